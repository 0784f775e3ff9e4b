internal import Foundation
internal import Yams

/// A value of a YAML document, and where it begins.
///
/// Made by walking the nodes that Yams composes. `Yams.load`, which makes Swift values at once, traps on maps whose keys are maps or lists
/// (`{{ placeholder }}`) and on numbers in base 60 that overflow.
package struct YAMLValue: Sendable {
    package enum Content: Sendable {
        /// `null`, `~` or nothing.
        case empty
        case text
        case flag(Bool)
        case integer(Int)
        case number(Double)
        /// A date, or binary data.
        case other
        case list([YAMLValue])
        case map(YAMLMap)
    }

    package let content: Content
    /// A scalar as it is written, without quotes; empty for lists and maps.
    package let written: String
    /// The first is 1.
    package let line: Int

    /// Reads a document.
    ///
    /// - Returns: nil for an empty one.
    /// - Parameter source: the name of the file or variable, for errors.
    /// - Throws: `ConfigurationError`, one line with the line of the document.
    package static func parse(_ yaml: String, source: String) throws -> YAMLValue? {
        do {
            var walk = NodeWalk()
            return try Yams.compose(yaml: yaml).map { try walk.value(of: $0, depth: 0) }
        } catch let fault as YAMLFault {
            throw ConfigurationError("\(source): \(fault.line.map { "line \($0): " } ?? "")\(fault.problem)")
        } catch let error as YamlError {
            throw ConfigurationError("\(source) is not valid YAML: \(error.sentence)")
        }
    }

    // MARK: Views

    package var isEmpty: Bool { if case .empty = content { true } else { false } }
    package var map: YAMLMap? { if case .map(let map) = content { map } else { nil } }
    package var list: [YAMLValue]? { if case .list(let list) = content { list } else { nil } }

    /// The text of a scalar that YAML reads as text.
    package var text: String? { if case .text = content { written } else { nil } }

    /// Any scalar as text: `node: 7` is the text "7".
    package var scalar: String? {
        switch content {
        case .text, .flag, .integer, .number, .other: written
        case .empty, .list, .map: nil
        }
    }
}

/// Equal in content: notation, order of keys and lines do not matter.
extension YAMLValue: Equatable {
    package static func == (left: YAMLValue, right: YAMLValue) -> Bool {
        switch (left.content, right.content) {
        case (.empty, .empty): true
        case (.text, .text), (.number, .number), (.other, .other): left.written == right.written
        case (.flag(let left), .flag(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.list(let left), .list(let right)): left == right
        case (.map(let left), .map(let right)): left == right
        default: false
        }
    }
}

/// The members of a YAML map. Their names are unique.
package struct YAMLMap: Sendable, Equatable {
    /// In the document's order.
    package private(set) var names: [String] = []
    private var values: [String: YAMLValue] = [:]

    package subscript(name: String) -> YAMLValue? { values[name] }

    /// - Returns: false if there is a member of this name, which stays.
    fileprivate mutating func insert(_ name: String, _ value: YAMLValue) -> Bool {
        guard values[name] == nil else { return false }
        names.append(name)
        values[name] = value
        return true
    }

    func without(_ removed: Set<String>) -> YAMLMap {
        var map = self
        for name in removed { map.values[name] = nil }
        map.names.removeAll(where: removed.contains)
        return map
    }

    package static func == (left: YAMLMap, right: YAMLMap) -> Bool { left.values == right.values }
}

/// An error in a YAML file or variable that the operator can correct: one line.
package struct ConfigurationError: Error, CustomStringConvertible {
    package let description: String

    /// - Parameter text: may contain names from the document, with any characters.
    package init(_ text: String) { description = text.split(whereSeparator: \.isNewline).joined(separator: " ") }
}

/// Why nodes are refused that are valid YAML.
private struct YAMLFault: Error {
    let line: Int?
    let problem: String
}

/// Makes values of nodes, within limits.
private struct NodeWalk {
    private static let depthMax = 100
    /// Aliases repeat what they name, so a short document can mean a large one.
    private static let valuesMax = 100_000

    private var valuesLeft = Self.valuesMax

    mutating func value(of node: Node, depth: Int) throws(YAMLFault) -> YAMLValue {
        let line = node.mark?.line
        guard depth < Self.depthMax else { throw YAMLFault(line: line, problem: "lists and maps are nested too deeply") }
        valuesLeft -= 1
        guard valuesLeft >= 0 else {
            throw YAMLFault(line: line, problem: "more than \(Self.valuesMax) values; use fewer aliases (`*name`)")
        }
        switch node {
        case .scalar(let scalar):
            return YAMLValue(content: Self.content(of: scalar, node.tagName), written: scalar.string, line: line ?? 1)
        case .sequence(let nodes):
            var elements: [YAMLValue] = []
            for node in nodes { elements.append(try value(of: node, depth: depth + 1)) }
            return YAMLValue(content: .list(elements), written: "", line: line ?? 1)
        case .mapping(let nodes):
            return YAMLValue(content: .map(try map(of: nodes, depth: depth)), written: "", line: line ?? 1)
        case .alias:
            throw YAMLFault(line: line, problem: "an alias names nothing")
        }
    }

    /// The members, after those of the maps that `<<` merges.
    private mutating func map(of nodes: Node.Mapping, depth: Int) throws(YAMLFault) -> YAMLMap {
        var own = YAMLMap()
        var merged: [YAMLMap] = []
        for (key, node) in nodes {
            let line = key.mark?.line
            guard case .scalar(let name) = key else {
                let kind = if case .sequence = key { "list" } else { "map" }
                throw YAMLFault(
                    line: line,
                    problem: "a \(kind) cannot be a key; if `{{ … }}` is a placeholder, fill it in first; if it is text, put it in quotes")
            }
            let value = try value(of: node, depth: depth + 1)
            if key.tagName == .merge {
                merged += try maps(toMerge: value)
            } else if !own.insert(name.string, value) {
                throw YAMLFault(line: line, problem: "the key `\(name.string)` is set twice; remove one")
            }
        }
        guard !merged.isEmpty else { return own }
        var map = YAMLMap()
        for other in merged {
            for name in other.names where own[name] == nil { if let value = other[name] { _ = map.insert(name, value) } }
        }
        for name in own.names { if let value = own[name] { _ = map.insert(name, value) } }
        return map
    }

    /// Of several, the first wins.
    private func maps(toMerge value: YAMLValue) throws(YAMLFault) -> [YAMLMap] {
        let maps = value.map.map { [$0] } ?? value.list?.compactMap(\.map)
        guard let maps, !maps.isEmpty, maps.count == value.list?.count ?? 1 else {
            throw YAMLFault(line: value.line, problem: "`<<` merges a map or a list of maps")
        }
        return maps
    }

    /// Numbers in base 60, such as `1:30`, are texts, as in YAML 1.2.
    private static func content(of scalar: Node.Scalar, _ tag: Tag.Name) -> YAMLValue.Content {
        let isSexagesimal = scalar.string.contains(":")
        return switch tag {
        case .null: NSNull.construct(from: scalar) == nil ? .text : .empty
        case .bool: Bool.construct(from: scalar).map(YAMLValue.Content.flag) ?? .text
        case .int where !isSexagesimal: Int.construct(from: scalar).map(YAMLValue.Content.integer) ?? .text
        case .float where !isSexagesimal: Double.construct(from: scalar).map(YAMLValue.Content.number) ?? .text
        case .timestamp, .binary: .other
        default: .text
        }
    }
}

extension Node {
    fileprivate var tagName: Tag.Name { Tag.Name(rawValue: tag.rawValue) }
}

extension YamlError {
    /// Without the lines of the document, which may contain secrets.
    fileprivate var sentence: String {
        func sentence(_ problem: String, _ context: Context?, _ mark: Mark) -> String {
            "line \(mark.line), column \(mark.column): \(context.map { $0.text + ", " } ?? "")\(problem)"
        }
        return switch self {
        case .reader(let problem, let offset, _, let yaml):
            (offset.map { "line \(yaml.prefix($0).count(where: \.isNewline) + 1): " } ?? "") + problem
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            sentence(problem, context, mark)
        case .duplicatedKeysInMapping(let names, let context):
            "line \(context.mark.line): the key `\(names.first ?? "")` is set twice; remove one"
        case .memory: "no memory"
        case .no, .writer, .emitter, .representer, .dataCouldNotBeDecoded: "it does not parse"
        }
    }
}
