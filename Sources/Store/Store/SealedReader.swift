internal import Identity

/// Opens the sealed texts of many rows that one key has sealed. A place is `table.column.row`, as in `Sealed`.
struct SealedReader: ~Copyable {
    private var opener: SealedBoxOpener
    private var place: [UInt8] = []

    init(_ key: SealingKey) {
        opener = SealedBoxOpener(key)
    }

    /// Nil where there is none.
    ///
    /// - Parameter column: with its table, and a full stop at the end.
    /// - Throws: `damaged`.
    mutating func text(_ sealed: UnsafeRawBufferPointer?, at column: StaticString, _ row: SessionID) throws(StoreError) -> String? {
        guard let sealed else { return nil }
        begin(column, row)
        return try open(sealed)
    }

    /// - Throws: `damaged`.
    mutating func turn(_ sealed: UnsafeRawBufferPointer, of session: SessionID, _ id: TurnID) throws(StoreError) -> String {
        begin("turns.text.", session)
        place.append(UInt8(ascii: " "))
        id.append(to: &place)
        return try open(sealed)
    }

    private mutating func begin(_ column: StaticString, _ row: SessionID) {
        place.removeAll(keepingCapacity: true)
        place += UnsafeBufferPointer(start: column.utf8Start, count: column.utf8CodeUnitCount)
        row.append(to: &place)
    }

    private mutating func open(_ sealed: UnsafeRawBufferPointer) throws(StoreError) -> String {
        let place = place
        guard let text = opener.openText(sealed.bytes, at: place.span.bytes) else {
            throw .damaged(place: String(decoding: place, as: UTF8.self))
        }
        return text
    }
}
