internal import Identity
internal import Wire

extension SessionCursor {
    /// What a client hands back without looking into it.
    package var text: String { Base64.urlSafe.encode("\(startedAt.milliseconds) \(id)".utf8) }

    /// - Throws: `invalidCursor`.
    package init(text: String) throws(StoreError) {
        let parts = Base64.urlSafe.decode(text.utf8).map { String(decoding: $0, as: UTF8.self).split(separator: " ") } ?? []
        guard parts.count == 2, let milliseconds = Int64(parts[0]), let id = SessionID(text: String(parts[1])) else {
            throw .invalidCursor
        }
        self.init(startedAt: WallTime(milliseconds: milliseconds), id: id)
    }
}
