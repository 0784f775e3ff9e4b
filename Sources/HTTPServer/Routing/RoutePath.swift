/// What a route's path looks like: `/v1/sessions/:id/turn`, where `:id` stands for one piece of any text.
package struct RoutePath: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    enum Piece: Sendable, Hashable {
        case literal(String)
        case parameter(String)
    }

    package let description: String
    let pieces: [Piece]

    package init(stringLiteral text: String) {
        precondition(text.hasPrefix("/"), "a route's path begins with a slash")
        description = text
        pieces = text.split(separator: "/").map { $0.hasPrefix(":") ? .parameter(String($0.dropFirst())) : .literal(String($0)) }
    }

    /// The names of its parameters, in their order.
    var parameterNames: [String] {
        pieces.compactMap { piece in
            if case .parameter(let name) = piece { name } else { nil }
        }
    }

    /// As OpenAPI writes it: `/v1/sessions/{id}/turn`.
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

    /// - Parameter segments: a request's path, cut at its slashes; an empty one is no parameter's value.
    /// - Returns: the parameters' values; nil if the path is another.
    func match(_ segments: [Substring]) -> [String: String]? {
        guard segments.count == pieces.count else { return nil }
        var values: [String: String] = [:]
        for (piece, segment) in zip(pieces, segments) {
            switch piece {
            // By bytes: Swift calls texts equal that differ in how their accents are composed.
            case .literal(let text): guard text.utf8.elementsEqual(segment.utf8) else { return nil }
            case .parameter(let name):
                guard !segment.isEmpty else { return nil }
                values[name] = String(segment)
            }
        }
        return values
    }
}
