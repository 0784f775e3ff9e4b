import Testing

/// Frames that violate RFC 6455, and the expected close code.
struct BadWebSocket: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: UInt16?
    let bytes: [UInt8]

    init(_ story: String, _ code: UInt16?, _ frames: RawFrame...) {
        testDescription = story
        self.code = code
        bytes = frames.flatMap(\.bytes)
    }
}

extension BadWebSocket {
    /// A valid request with ID 7.
    static let ping = #"{"type":"ping","id":7}"#
    private static func piece(_ opcode: UInt8, _ text: String, isFinal: Bool = false) -> RawFrame {
        RawFrame(isFinal: isFinal, opcode: opcode, payload: Array(text.utf8))
    }

    static let fatal: [BadWebSocket] = [
        BadWebSocket("text that is not masked", 1002, RawFrame(opcode: 1, payload: Array(ping.utf8), isMasked: false)),
        BadWebSocket("a frame that is not masked", 1002, RawFrame(opcode: 2, payload: [UInt8](repeating: 7, count: 80), isMasked: false)),
        BadWebSocket(
            "1,000 bytes that are not masked", 1002, RawFrame(opcode: 2, payload: [UInt8](repeating: 7, count: 1_000), isMasked: false)),
        BadWebSocket("reserved bit 1", 1002, RawFrame(reserved: 4, opcode: 1, payload: Array(ping.utf8))),
        BadWebSocket("reserved bit 2", 1002, RawFrame(reserved: 2, opcode: 2, payload: [1])),
        BadWebSocket("reserved bit 3", 1002, RawFrame(reserved: 1, opcode: 2, payload: [1])),
        BadWebSocket("opcode 3", 1002, RawFrame(opcode: 3, payload: [1])),
        BadWebSocket("opcode 7", 1002, RawFrame(opcode: 7, payload: [1])),
        BadWebSocket("opcode 11", 1002, RawFrame(opcode: 11, payload: [1])),
        BadWebSocket("opcode 15", 1002, RawFrame(opcode: 15, payload: [1])),
        BadWebSocket("a ping in pieces", 1002, RawFrame(isFinal: false, opcode: 9, payload: [1])),
        BadWebSocket("a ping of 126 bytes", 1002, .ping([UInt8](repeating: 1, count: 126))),
        BadWebSocket("a continuation of nothing", 1002, piece(0, ping, isFinal: true)),
        BadWebSocket("a message inside another", 1002, piece(1, "{"), piece(1, ping, isFinal: true)),
        BadWebSocket("a length of 2⁶³ and more", nil, RawFrame(opcode: 2, payload: [1], claimedLength: .max)),
        BadWebSocket("a length of just under 2⁶³", 1009, RawFrame(opcode: 2, payload: [1], claimedLength: .max >> 1)),
        BadWebSocket(
            "a length of just under 2⁶³ in the second piece", 1009, RawFrame(isFinal: false, opcode: 2, payload: [1, 2, 3]),
            RawFrame(opcode: 0, payload: [1, 2, 3], claimedLength: .max >> 1)),
        BadWebSocket("a length of 4 GiB", 1009, RawFrame(opcode: 1, payload: [1], claimedLength: 1 << 32)),
        BadWebSocket(
            "16,385 bytes in two pieces", 1009, RawFrame(isFinal: false, opcode: 2, payload: [UInt8](repeating: 1, count: 16_000)),
            RawFrame(opcode: 0, payload: [UInt8](repeating: 1, count: 385))),
        BadWebSocket("text that is not UTF-8, in two pieces", 1007, piece(1, "{"), RawFrame(opcode: 0, payload: [0xFF])),
    ]

    /// Unusual but valid: the connection stays open.
    static let harmless: [BadWebSocket] = [
        BadWebSocket("a pong that nobody asked for", nil, RawFrame(opcode: 10, payload: [1, 2, 3]), .text(ping)),
        BadWebSocket("a pong of four bytes", nil, RawFrame(opcode: 10, payload: [0, 0, 0, 9]), .text(ping)),
        BadWebSocket("empty pieces", nil, piece(1, ""), piece(0, ping), piece(0, "", isFinal: true)),
    ]
}
