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

    private static func padded(_ text: String, to count: Int) -> String { text + String(repeating: " ", count: count - text.utf8.count) }

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
        BadWebSocket("a pong of 126 bytes", 1002, RawFrame(opcode: 10, payload: [UInt8](repeating: 1, count: 126))),
        BadWebSocket("a close of 126 bytes", 1002, RawFrame(opcode: 8, payload: [3, 232] + [UInt8](repeating: 97, count: 124))),
        BadWebSocket("a ping that announces 4 GiB", 1002, RawFrame(opcode: 9, payload: [1], claimedLength: 1 << 32)),
        BadWebSocket("a length of 2⁶³", 1002, RawFrame(opcode: 2, payload: [1], claimedLength: 1 << 63)),
        BadWebSocket("a length of 2⁶⁴ - 1", 1002, RawFrame(opcode: 2, payload: [1], claimedLength: .max)),
        BadWebSocket("half a close code", 1002, RawFrame(opcode: 8, payload: [3])),
        BadWebSocket("a close reason that is not UTF-8", 1007, RawFrame(opcode: 8, payload: [3, 232, 0xFF])),
        BadWebSocket("a close reason that ends within a character", 1007, RawFrame(opcode: 8, payload: [3, 232, 0xE2, 0x82])),
        BadWebSocket("close code 0", 1002, .close(0)), BadWebSocket("close code 999", 1002, .close(999)),
        BadWebSocket("close code 1004", 1002, .close(1004)), BadWebSocket("close code 1005", 1002, .close(1005)),
        BadWebSocket("close code 1006", 1002, .close(1006)), BadWebSocket("close code 1015", 1002, .close(1015)),
        BadWebSocket("close code 1016", 1002, .close(1016)), BadWebSocket("close code 2999", 1002, .close(2999)),
        BadWebSocket("close code 5000", 1002, .close(5000)), BadWebSocket("close code 65535", 1002, .close(65_535)),
        BadWebSocket("a length of just under 2⁶³", 1009, RawFrame(opcode: 2, payload: [1], claimedLength: .max >> 1)),
        BadWebSocket(
            "a length of just under 2⁶³ in the second piece", 1009, RawFrame(isFinal: false, opcode: 2, payload: [1, 2, 3]),
            RawFrame(opcode: 0, payload: [1, 2, 3], claimedLength: .max >> 1)),
        BadWebSocket("a length of 4 GiB", 1009, RawFrame(opcode: 1, payload: [1], claimedLength: 1 << 32)),
        BadWebSocket(
            "16,385 bytes in two pieces", 1009, RawFrame(isFinal: false, opcode: 2, payload: [UInt8](repeating: 1, count: 16_000)),
            RawFrame(opcode: 0, payload: [UInt8](repeating: 1, count: 385))),
        BadWebSocket("a text of 64 KiB and a byte", 1009, .text(padded(ping, to: 65_537))),
        BadWebSocket(
            "a text of 64 KiB and a byte in two pieces", 1009, piece(1, padded("", to: 65_000)),
            piece(0, padded("", to: 537), isFinal: true)),
        BadWebSocket("text that is not UTF-8, in two pieces", 1007, piece(1, "{"), RawFrame(opcode: 0, payload: [0xFF])),
    ]

    /// Unusual but valid: the connection stays open.
    static let harmless: [BadWebSocket] = [
        BadWebSocket("a pong that nobody asked for", nil, RawFrame(opcode: 10, payload: [1, 2, 3]), .text(ping)),
        BadWebSocket("a pong of four bytes", nil, RawFrame(opcode: 10, payload: [0, 0, 0, 9]), .text(ping)),
        BadWebSocket("a text of 64 KiB", nil, .text(padded(ping, to: 65_536))),
        BadWebSocket(
            "a text of 64 KiB in two pieces", nil, piece(1, padded(ping, to: 65_000)), piece(0, padded("", to: 536), isFinal: true)),
        BadWebSocket("a binary message of 16 KiB", nil, .binary([UInt8](repeating: 1, count: 16_384)), .text(ping)),
        BadWebSocket("empty messages", nil, .text(""), .binary([]), .text(ping)),
        BadWebSocket("empty pieces", nil, piece(1, ""), piece(0, ping), piece(0, "", isFinal: true)),
    ]
}
