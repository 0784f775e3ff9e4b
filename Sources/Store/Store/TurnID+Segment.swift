internal import Identity
internal import Wire

extension TurnID {
    /// The turn that a transcript's segment becomes: always the same one, so that it is kept once however often it is told.
    ///
    /// A UUID of version 8 (RFC 9562) made of a hash.
    package init(session: SessionID, segment: String) {
        var bytes = Array(SHA2.digest(of: Array("\(session) \(segment)".utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += Hex.encode([byte])
        }
        guard let id = TurnID(text: text) else { preconditionFailure("sixteen bytes make a UUID") }
        self = id
    }
}
