internal import Wire

/// A page of a list.
package struct Page<Element: Sendable, Cursor: Sendable>: Sendable {
    package var elements: [Element]
    /// The cursor of the next page; nil at the end.
    package var next: Cursor?
}

extension Page {
    /// - Parameter rows: read with a limit of one more than `limit`.
    init<Row>(_ rows: [Row], limit: Int, cursor: (Row) throws -> Cursor, element: (Row) throws -> Element) rethrows {
        let page = rows.prefix(limit)
        elements = try page.map(element)
        next = rows.count > limit ? try page.last.map(cursor) : nil
    }
}

/// A stable position in a list that is sorted by a number.
package struct NumberCursor: Sendable, Hashable {
    let number: Int64

    /// The opaque text form for clients.
    package var text: String { Base64.urlSafe.encode("n \(number)".utf8) }
}

/// A stable position in a list that is sorted by time and id, the latest first.
package struct TimeCursor: Sendable, Hashable {
    let time: WallTime
    let id: String

    /// The opaque text form for clients.
    package var text: String { Base64.urlSafe.encode("t \(time.milliseconds) \(id)".utf8) }
}

extension NumberCursor {
    /// - Throws: `invalidCursor`.
    package init(text: String) throws(StoreError) {
        let parts = cursorParts(of: text)
        guard parts.count == 2, parts[0] == "n", let number = Int64(parts[1]) else { throw .invalidCursor }
        self.number = number
    }
}

extension TimeCursor {
    /// The position after a session of the list.
    package init(after line: SessionListing) {
        self.init(time: line.startedAt, id: line.id.text)
    }

    /// - Throws: `invalidCursor`.
    package init(text: String) throws(StoreError) {
        let parts = cursorParts(of: text)
        guard parts.count == 3, parts[0] == "t", let milliseconds = Int64(parts[1]) else { throw .invalidCursor }
        self.init(time: WallTime(milliseconds: milliseconds), id: String(parts[2]))
    }
}

private func cursorParts(of text: String) -> [Substring] {
    Base64.urlSafe.decode(text.utf8).map { String(decoding: $0, as: UTF8.self) }?.split(separator: " ") ?? []
}
