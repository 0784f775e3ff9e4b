import Wire

/// A token taken apart (RFC 7515 section 7.1, the compact serialization) and not yet believed.
struct CompactToken {
    /// The whole token, base64url characters and two dots.
    let text: String
    /// What the signature is about: header, dot and payload as they came.
    let signedBytes: [UInt8]
    /// JSON, decoded.
    let header: [UInt8]
    /// JSON, decoded.
    let payload: [UInt8]
    let signature: [UInt8]

    /// - Throws: `malformed` unless there are exactly three non-empty base64url parts.
    init(_ text: String) throws(TokenError) {
        let bytes = Array(text.utf8)
        // Omitted empty parts would turn "a..b.c" into three.
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }),
            let header = Base64.urlSafe.decode(parts[0]), let payload = Base64.urlSafe.decode(parts[1]),
            let signature = Base64.urlSafe.decode(parts[2])
        else { throw .malformed }
        self.text = text
        self.signedBytes = Array(bytes[..<parts[1].endIndex])
        self.header = header
        self.payload = payload
        self.signature = signature
    }
}
