import Testing

@testable import Sockets
@testable import TLSFastPath

/// Which records are read past libwebsockets, and that their messages come out as sent.
struct WebSocketRecordTests {
    private static let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]

    private static func frame(_ payload: [UInt8], masked: Bool = true) -> [UInt8] { frame(0x82, payload, masked: masked) }

    private static func frame(_ first: UInt8, _ payload: [UInt8], masked: Bool = true) -> [UInt8] {
        let bit: UInt8 = masked ? 0x80 : 0
        let length: [UInt8] =
            payload.count < 126 ? [bit | UInt8(payload.count)] : [bit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        let body = masked ? payload.enumerated().map { $1 ^ mask[$0 & 3] } : payload
        return [first] + length + (masked ? mask : []) + body
    }

    private static func look(_ record: [UInt8], areMasked: Bool = true) -> WebSocketRecord.Content {
        record.withUnsafeBytes { WebSocketRecord.classify($0, areMasked: areMasked) }
    }

    private static func messages(_ record: [UInt8]) -> [[UInt8]] {
        var record = record
        var found: [[UInt8]] = []
        record.withUnsafeMutableBytes { bytes in WebSocketRecord.forEachMessage(in: bytes) { message, _ in found.append(Array(message)) } }
        return found
    }

    private static let some: [UInt8] = (0..<92).map { UInt8($0) }

    @Test
    func messagesOfEveryLengthAreUnmaskedCorrectly() {
        for length in Array(0...300) + [1_000, 16_000] {
            let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ length) }
            for masked in [true, false] {
                let record = Self.frame(payload, masked: masked)
                #expect(Self.look(record, areMasked: masked) == .messages, "\(length) bytes")
                #expect(Self.messages(record) == [payload], "\(length) bytes")
            }
        }
    }

    @Test
    func messagesOfOneRecordAreDeliveredInOrder() {
        let payloads: [[UInt8]] = [Self.some, [], Array(repeating: 7, count: 200), [1]]
        let record = payloads.flatMap { Self.frame($0) }
        #expect(Self.look(record) == .messages)
        #expect(Self.messages(record) == payloads)
    }

    @Test
    func distinguishesTextAndPongsFromMedia() {
        var record = Self.frame(Self.some) + Self.frame(0x8A, [1, 2, 3, 4]) + Self.frame(0x81, [0x7B, 0x7D]) + Self.frame([])
        #expect(Self.look(record) == .messages)
        var kinds: [MessageKind] = []
        record.withUnsafeMutableBytes { bytes in WebSocketRecord.forEachMessage(in: bytes) { _, kind in kinds.append(kind) } }
        #expect(kinds == [.binary, .pong, .text, .binary])
    }

    @Test(arguments: [
        // Close, ping, a pong that is too long; reserved bits and opcodes.
        frame(0x88, [0x03, 0xE8]), frame(0x89, []), frame(0x8A, Array(repeating: 0, count: 126)), frame(0xC2, some),
        frame(0x83, some), frame(0xCA, some),
        frame(0x8B, some), frame(some) + frame(0x89, []), frame(0x81, some) + frame(0x88, []),
        // Not masked as it should be.
        frame(some, masked: false), frame(some) + frame(some, masked: false),
    ])
    func wholeFramesOfOtherKindsGoToTheLibrary(record: [UInt8]) {
        #expect(Self.look(record) == .others)
    }

    @Test(arguments: [
        // Beginnings, middles and ends of messages.
        frame(0x02, some), frame(0x01, some), frame(0x00, some), frame(0x80, some), frame(some) + frame(0x02, some),
        // Longer than a record can be.
        [0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0] + mask,
    ])
    func fragmentsGoToTheLibrary(record: [UInt8]) {
        #expect(Self.look(record) == .fragments)
    }

    @Test
    func aTruncatedFrameIsAFragment() {
        for whole in [Self.frame(Self.some), Self.frame(Array(repeating: 1, count: 300)), Self.frame(0x89, [1, 2, 3])] {
            for length in 1..<whole.count {
                #expect(Self.look(Array(whole[..<length])) == .fragments, "\(length) of \(whole.count) bytes")
                #expect(Self.look(Self.frame(Self.some) + whole[..<length]) == .fragments, "after a whole one, \(length) of \(whole.count)")
            }
        }
    }

    @Test
    func readsNothingBeyondTheRecord() {
        var random = SplitMix(seed: 6_455)
        for _ in 0..<20_000 {
            let record = (0..<Int(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            // Out-of-bounds reads would show in the sanitizer or in the total.
            guard Self.look(record) == .messages else { continue }
            #expect(Self.messages(record).reduce(0) { $0 + $1.count } <= record.count)
        }
    }
}
