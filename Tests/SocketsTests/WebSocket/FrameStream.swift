import Testing
import Wire

@testable import Sockets

/// A WebSocket frame, valid or not, and its bytes (RFC 6455 section 5.2).
struct TestFrame {
    enum LengthForm {
        case shortest, twoBytes, eightBytes
    }

    var first: UInt8
    var payload: [UInt8] = []
    /// nil in a frame from a server.
    var mask: [UInt8]? = [0x12, 0xF4, 0x56, 0x78]
    /// A length other than the payload's.
    var announced: UInt64?
    var form = LengthForm.shortest

    init(_ first: UInt8, _ payload: [UInt8] = []) {
        self.first = first
        self.payload = payload
    }

    init(_ first: UInt8, count: Int) {
        self.init(first, (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) })
    }

    init(_ first: UInt8, _ text: String) {
        self.init(first, Array(text.utf8))
    }

    static func close(_ code: UInt16, _ reason: [UInt8] = []) -> TestFrame {
        TestFrame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
    }

    func masked(_ mask: [UInt8]?) -> TestFrame {
        var frame = self
        frame.mask = mask
        return frame
    }

    func announcing(_ length: UInt64, _ form: LengthForm = .shortest) -> TestFrame {
        var frame = self
        (frame.announced, frame.form) = (length, form)
        return frame
    }

    var header: [UInt8] {
        let length = announced ?? UInt64(payload.count)
        let bit: UInt8 = mask == nil ? 0 : 0x80
        func bigEndian(_ count: Int) -> [UInt8] { (0..<count).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * UInt64($0))) } }
        return switch (form, length) {
        case (.shortest, ..<126): [first, bit | UInt8(length)]
        case (.shortest, ..<65_536), (.twoBytes, _): [first, bit | 126] + bigEndian(2)
        default: [first, bit | 127] + bigEndian(8)
        }
    }

    var bytes: [UInt8] {
        guard let mask else { return header + payload }
        return header + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }
}

extension [TestFrame] {
    var bytes: [UInt8] { flatMap(\.bytes) }
}

/// A copy of an event.
enum Received: Equatable {
    case binary([UInt8]), text([UInt8]), ping([UInt8]), pong([UInt8])
    case close(UInt16)
    case violation(CloseReason)

    init(_ event: WebSocketFramer.Event) {
        self =
            switch event {
            case .binary(let bytes): .binary(Array(bytes))
            case .text(let bytes): .text(Array(bytes))
            case .ping(let bytes): .ping(Array(bytes))
            case .pong(let bytes): .pong(Array(bytes))
            case .close(let code): .close(code)
            case .violation(let reason): .violation(reason)
            }
    }

    /// The event of a whole frame.
    init(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        self =
            switch opcode {
            case .text: .text(payload)
            case .binary: .binary(payload)
            case .ping: .ping(payload)
            case .pong: .pong(payload)
            case .close: .close(UInt16(payload[0]) << 8 | UInt16(payload[1]))
            }
    }

    static func text(_ text: String) -> Received { .text(Array(text.utf8)) }
}

/// One end of a connection that receives a stream in pieces.
struct FrameStream {
    var framer: WebSocketFramer
    private(set) var events: [Received] = []
    /// The index of the byte with which a CLOSE frame or a violation was reported, if the stream came byte by byte.
    private(set) var endOffset: Int?
    private var receivedBytes = 0

    init(role: WebSocketFramer.Role = .server) {
        framer = WebSocketFramer(role: role)
    }

    init(_ bytes: [UInt8], role: WebSocketFramer.Role = .server, pieceLength: Int = .max) {
        self.init(role: role)
        receive(bytes, pieceLength: pieceLength)
    }

    /// Receives bytes with others around them in memory, which must not change.
    mutating func receive(_ piece: [UInt8]) {
        let margin = [UInt8](repeating: 0x82, count: 16)
        var memory = margin + piece + margin
        memory.withUnsafeMutableBytes { memory in
            var bytes = UnsafeMutableRawBufferPointer(rebasing: memory[margin.count..<(margin.count + piece.count)])
            while let event = framer.next(in: &bytes) {
                events.append(Received(event))
                switch event {
                case .close, .violation: endOffset = endOffset ?? receivedBytes + piece.count - 1
                default: break
                }
            }
            // `#expect` would take most of the time of streams that come byte by byte.
            if !bytes.isEmpty { Issue.record("\(bytes.count) bytes are left") }
        }
        receivedBytes += piece.count
        if !memory.starts(with: margin) || memory.suffix(margin.count) != margin[...] { Issue.record("written beside the piece") }
    }

    mutating func receive(_ bytes: [UInt8], pieceLength: Int) {
        var rest = bytes[...]
        while !rest.isEmpty {
            receive(Array(rest.prefix(pieceLength)))
            rest = rest.dropFirst(pieceLength)
        }
    }

    /// The stream in pieces of random length, some of them empty.
    mutating func receive(_ bytes: [UInt8], cutBy random: inout SplitMix64) {
        let longest = [2, 10, 200, 20_000][random.below(4)]
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(random.below(longest))
            receive(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
    }
}
