/// A message on the standard input or output of a helper process.
///
/// Layout: length of the rest (4 bytes, big-endian), kind (1 byte), request number (4 bytes, big-endian), body.
struct HelperMessage: Hashable, Sendable {
    /// The meaning of a message; the codes are those of `scripts/models/hibari_helper.py`.
    enum Kind: UInt8, Sendable {
        case request = 1
        case cancel = 2
        /// The process accepts requests. Sent once, with request number 0.
        case ready = 16
        /// A part of a response.
        case part = 17
        case finished = 18
        /// The body says what failed.
        case failed = 19
    }

    var kind: Kind
    /// The request that this message belongs to.
    var number: UInt32
    var body: [UInt8]

    /// Maximum length of the body, in bytes: about five minutes of audio.
    static let bodyBytesMax = 16 << 20
    private static let headBytes = 5

    init(_ kind: Kind, _ number: UInt32 = 0, _ body: [UInt8] = []) {
        self.kind = kind
        self.number = number
        self.body = body
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + Self.headBytes + body.count)
        bytes.append(bigEndian: UInt32(Self.headBytes + body.count))
        bytes.append(kind.rawValue)
        bytes.append(bigEndian: number)
        bytes += body
        return bytes
    }

    /// Splits a stream of bytes into messages.
    struct Decoder {
        private var bytes: [UInt8] = []

        mutating func append(_ more: some Sequence<UInt8>) {
            bytes += more
        }

        /// The next complete message; nil if more bytes are needed.
        ///
        /// - Throws: `ProviderError` with code `invalidResponse` for an unknown kind or an implausible length.
        mutating func next() throws(ProviderError) -> HelperMessage? {
            guard let length = bytes.bigEndian(at: 0).map(Int.init) else { return nil }
            guard headBytes...headBytes + bodyBytesMax ~= length else {
                throw ProviderError(.invalidResponse, "The helper process sent a message of \(length) bytes.")
            }
            guard bytes.count >= 4 + length, let number = bytes.bigEndian(at: 5) else { return nil }
            guard let kind = Kind(rawValue: bytes[4]) else {
                throw ProviderError(.invalidResponse, "The helper process sent a message of unknown kind \(bytes[4]).")
            }
            let message = HelperMessage(kind, number, Array(bytes[(4 + headBytes)..<(4 + length)]))
            bytes.removeFirst(4 + length)
            return message
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: UInt32) {
        for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
    }

    /// The 32-bit number at `offset`; nil if it is incomplete.
    func bigEndian(at offset: Int) -> UInt32? {
        guard count >= offset + 4 else { return nil }
        return self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
