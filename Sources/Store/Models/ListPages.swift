internal import Wire

/// A page of a list that is sorted by a number.
package struct NumberedPage<Element: Sendable>: Sendable {
    package var elements: [Element]
    /// The cursor of the next page; nil at the end.
    package var next: NumberCursor?
}

/// A stable position in a list that is sorted by a number.
package struct NumberCursor: Sendable, Hashable {
    let number: Int64

    init(_ number: Int64) {
        self.number = number
    }

    /// The opaque text form for clients.
    package var text: String { Base64.urlSafe.encode("n \(number)".utf8) }

    /// - Throws: `invalidCursor`.
    package init(text: String) throws(StoreError) {
        let parts = Base64.urlSafe.decode(text.utf8).map { String(decoding: $0, as: UTF8.self).split(separator: " ") } ?? []
        guard parts.count == 2, parts[0] == "n", let number = Int64(parts[1]) else { throw .invalidCursor }
        self.number = number
    }
}

/// A stable position in a list that is sorted by time and id, the latest first.
package struct TimeCursor: Sendable, Hashable {
    let time: WallTime
    let id: String

    init(time: WallTime, id: String) {
        self.time = time
        self.id = id
    }

    /// The opaque text form for clients.
    package var text: String { Base64.urlSafe.encode("t \(time.milliseconds) \(id)".utf8) }

    /// - Throws: `invalidCursor`.
    package init(text: String) throws(StoreError) {
        let parts = Base64.urlSafe.decode(text.utf8).map { String(decoding: $0, as: UTF8.self).split(separator: " ") } ?? []
        guard parts.count == 3, parts[0] == "t", let milliseconds = Int64(parts[1]) else { throw .invalidCursor }
        self.init(time: WallTime(milliseconds: milliseconds), id: String(parts[2]))
    }
}
