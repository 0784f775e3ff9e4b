/// A route's path pattern, such as `/v1/sessions/:id/turn`, where `:id` matches one non-empty segment.
package struct RoutePath: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    enum Piece: Sendable, Hashable {
        case literal(String)
        case parameter(String)
    }

    package let description: String
    let pieces: [Piece]

    package init(stringLiteral text: String) {
        precondition(text.hasPrefix("/"), "a route's path must begin with a slash")
        description = text
        pieces = text.split(separator: "/").map { $0.hasPrefix(":") ? .parameter(String($0.dropFirst())) : .literal(String($0)) }
    }

    /// The parameters' names in order.
    var parameterNames: [String] {
        pieces.compactMap { piece in
            if case .parameter(let name) = piece { name } else { nil }
        }
    }

    /// In OpenAPI notation: `/v1/sessions/{id}/turn`.
    package var inOpenAPI: String {
        pieces.isEmpty
            ? "/"
            : pieces.map { piece in
                switch piece {
                case .literal(let text): "/" + text
                case .parameter(let name): "/{" + name + "}"
                }
            }.joined()
    }

    /// - Parameter segments: the request's path, split at slashes. Parameters do not match empty segments.
    /// - Returns: the parameters' values, or nil if the path does not match.
    func match(_ segments: [Substring]) -> [String: String]? {
        guard segments.count == pieces.count else { return nil }
        var values: [String: String] = [:]
        for (piece, segment) in zip(pieces, segments) {
            switch piece {
            // By bytes: Swift's string equality ignores Unicode composition.
            case .literal(let text): guard text.utf8.elementsEqual(segment.utf8) else { return nil }
            case .parameter(let name):
                guard !segment.isEmpty else { return nil }
                values[name] = String(segment)
            }
        }
        return values
    }
}
