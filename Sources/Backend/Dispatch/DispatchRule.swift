/// A rule of the configuration: rooms with matching names get an assistant when they open.
package struct DispatchRule: Sendable, Hashable {
    /// A room name in which each `*` stands for any text.
    package var room: String
    package var assistant: String

    package init(room: String, assistant: String) {
        self.room = room
        self.assistant = assistant
    }

    package func matches(_ name: String) -> Bool {
        let parts = room.split(separator: "*", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return name == room }
        guard name.hasPrefix(first) else { return false }
        var rest = name.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
