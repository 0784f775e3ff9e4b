import Foundation

/// A WebSocket frame (RFC 6455 section 5.2), valid or not.
struct RawFrame {
    var isFinal = true
    /// The three reserved bits, 0…7.
    var reserved: UInt8 = 0
    var opcode: UInt8
    var payload: [UInt8] = []
    var isMasked = true
    /// The length that the header states, if it is a false one.
    var claimedLength: UInt64?

    static func text(_ text: String) -> RawFrame { RawFrame(opcode: 1, payload: Array(text.utf8)) }
    static func binary(_ payload: [UInt8]) -> RawFrame { RawFrame(opcode: 2, payload: payload) }
    static func ping(_ payload: [UInt8] = []) -> RawFrame { RawFrame(opcode: 9, payload: payload) }
    static func close(_ code: UInt16) -> RawFrame { RawFrame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 0xFF)]) }

    var bytes: [UInt8] {
        let length = claimedLength ?? UInt64(payload.count)
        let mask: [UInt8] = isMasked ? [0x1F, 0x2E, 0x3D, 0x4C] : []
        let maskBit: UInt8 = isMasked ? 0x80 : 0
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        if length < 126 {
            bytes.append(maskBit | UInt8(length))
        } else if length <= 0xFFFF {
            bytes += [maskBit | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
        } else {
            bytes.append(maskBit | 127)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
        }
        bytes += mask
        return bytes + (isMasked ? payload.enumerated().map { $1 ^ mask[$0 % 4] } : payload)
    }
}

/// A message from a gateway.
enum Incoming: Equatable {
    case text([UInt8])
    case binary([UInt8])
    case pong([UInt8])
    /// Code and phrase; the code is nil if there is none.
    case close(UInt16?, String)
    /// The connection has ended.
    case end
}

/// A WebSocket on a `RawSocket`, upgraded with a request that the test controls.
final class RawWebSocket {
    let socket: RawSocket
    /// The response to the upgrade.
    private(set) var answer: HTTPAnswer
    /// Whether pings and closes are answered automatically, as clients must.
    var isPolite = true
    private var inbox: [UInt8] = []
    private var fragments: (opcode: UInt8, payload: [UInt8])?

    /// - Throws: `Refused` if the response is not 101.
    init(on socket: RawSocket, asking ask: HTTPAsk, then more: [UInt8] = []) throws {
        self.socket = socket
        try socket.write(ask.bytes + more)
        guard let answer = try HTTPAnswer.read(from: socket, inbox: &inbox) else { throw SocketFault("ended without an answer", 0) }
        self.answer = answer
        guard answer.status == 101 else { throw Refused(answer: answer) }
    }

    struct Refused: Error, CustomStringConvertible {
        let answer: HTTPAnswer
        var description: String { "refused: \(answer.status) \(answer.text)" }
    }

    func send(_ frame: RawFrame) throws { try socket.write(frame.bytes) }
    func send(text: String) throws { try send(.text(text)) }
    func send(binary: [UInt8]) throws { try send(.binary(binary)) }

    /// The next message, pong or close; `end` when the connection has ended.
    func next(within span: Duration = Patience.usual) throws -> Incoming {
        let deadline = ContinuousClock.now + span
        while true {
            if let incoming = try parse() { return incoming }
            let more = try socket.read(within: max(.zero, deadline - .now))
            if more.isEmpty { return .end }
            inbox += more
        }
    }

    /// How the gateway ends the connection; skips all messages before.
    func ending(within span: Duration = Patience.usual) throws -> Incoming {
        let deadline = ContinuousClock.now + span
        while true {
            switch try next(within: max(.zero, deadline - .now)) {
            case .close(let code, let phrase): return .close(code, phrase)
            case .end: return .end
            default: continue
            }
        }
    }

    private func parse() throws -> Incoming? {
        while let (frame, length) = Self.frame(at: inbox) {
            inbox.removeFirst(length)
            switch frame.opcode {
            case 9:
                if isPolite { try? send(RawFrame(opcode: 10, payload: frame.payload)) }
            case 10: return .pong(frame.payload)
            case 8:
                if isPolite { try? send(RawFrame(opcode: 8, payload: Array(frame.payload.prefix(2)))) }
                let code = frame.payload.count >= 2 ? UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1]) : nil
                return .close(code, String(decoding: frame.payload.dropFirst(2), as: UTF8.self))
            default:
                let opcode = fragments?.opcode ?? frame.opcode
                let payload = (fragments?.payload ?? []) + frame.payload
                fragments = frame.isFinal ? nil : (opcode, payload)
                if frame.isFinal { return opcode == 1 ? .text(payload) : .binary(payload) }
            }
        }
        return nil
    }

    /// A server's frame, which is never masked, and its length in bytes.
    private static func frame(at bytes: [UInt8]) -> (RawFrame, Int)? {
        guard bytes.count >= 2 else { return nil }
        var length = Int(bytes[1] & 0x7F)
        var offset = 2
        if length >= 126 {
            let count = length == 126 ? 2 : 8
            guard bytes.count >= 2 + count else { return nil }
            length = bytes[2..<2 + count].reduce(0) { $0 << 8 | Int($1) }
            offset += count
        }
        guard bytes.count >= offset + length else { return nil }
        let payload = Array(bytes[offset..<offset + length])
        return (
            RawFrame(isFinal: bytes[0] & 0x80 != 0, reserved: bytes[0] >> 4 & 7, opcode: bytes[0] & 15, payload: payload), offset + length
        )
    }
}

extension HTTPAsk {
    /// A valid upgrade to `path`, with additional fields.
    static func upgrade(
        _ path: String = "/v1/rtc", subprotocol: String? = "patchbay.v1", with fields: [(name: String, value: String)] = []
    ) -> HTTPAsk {
        var ask = HTTPAsk(path: path)
        ask.fields = [
            ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ]
        if let subprotocol { ask.fields.append(("Sec-WebSocket-Protocol", subprotocol)) }
        ask.fields += fields
        return ask
    }

    static func upgrade(token: String, path: String = "/v1/rtc") -> HTTPAsk {
        upgrade(path, with: [("Authorization", "Bearer " + token)])
    }
}
