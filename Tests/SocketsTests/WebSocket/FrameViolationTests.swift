import Glibc
import Testing
import Wire

@testable import Sockets

/// Frames that end the connection, with the reason and the byte that shows it.
struct BadFrame: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let reason: CloseReason
    let offset: Int

    /// - Parameter offset: in the last of the frames.
    init(_ story: String, _ reason: CloseReason, at offset: Int, _ frames: TestFrame...) {
        testDescription = story
        self.reason = reason
        self.offset = frames.dropLast().map(\.bytes.count).reduce(offset, +)
        bytes = frames.bytes
    }

    static let ofFirstByte: [BadFrame] =
        [0xC1, 0xA2, 0x92, 0xCA, 0xC9, 0xC8].map {
            BadFrame("reserved bits: first byte \($0)", .webSocketProtocol, at: 0, TestFrame($0, [3, 232]))
        }
        + [0x83, 0x84, 0x85, 0x86, 0x87, 0x8B, 0x8C, 0x8D, 0x8E, 0x8F, 0x03, 0x0B].map {
            BadFrame("unknown opcode: first byte \($0)", .webSocketProtocol, at: 0, TestFrame($0, [3, 232]))
        }
        + [0x08, 0x09, 0x0A].map {
            BadFrame("a control frame that is not final: first byte \($0)", .webSocketProtocol, at: 0, TestFrame($0, [3, 232]))
        }
        + [0x00, 0x80].map {
            BadFrame("a continuation of nothing: first byte \($0)", .webSocketProtocol, at: 0, TestFrame($0, count: 1))
        }
        + [0x81, 0x82, 0x01, 0x02].flatMap {
            [
                BadFrame("a message within another: first byte \($0)", .webSocketProtocol, at: 0, TestFrame(0x01, "a"), TestFrame($0)),
                BadFrame("a message within a binary one: first byte \($0)", .webSocketProtocol, at: 0, TestFrame(0x02), TestFrame($0)),
                BadFrame(
                    "a message behind a ping within another: first byte \($0)", .webSocketProtocol, at: 0, TestFrame(0x02), TestFrame(0x89),
                    TestFrame($0)),
            ]
        }
        + [0x00, 0x80].map {
            BadFrame(
                "a continuation of an ended message: first byte \($0)", .webSocketProtocol, at: 0, TestFrame(0x02),
                TestFrame(0x80, count: 2),
                TestFrame($0, count: 1))
        }

    static let ofMask: [BadFrame] =
        [0x81, 0x82, 0x01, 0x88, 0x89, 0x8A].flatMap { (first: UInt8) in
            [0, 2, 100].map {
                BadFrame("not masked: first byte \(first)", .webSocketProtocol, at: 1, TestFrame(first, count: $0).masked(nil))
            }
        }
        + [0x00, 0x80].map {
            BadFrame(
                "a continuation that is not masked", .webSocketProtocol, at: 1, TestFrame(0x01, "a"), TestFrame($0, "abcde").masked(nil))
        }
        + [
            BadFrame("1,000 bytes that are not masked", .webSocketProtocol, at: 1, TestFrame(0x82, count: 1_000).masked(nil)),
            BadFrame(
                "bytes that are not masked and begin like a length", .webSocketProtocol, at: 1,
                TestFrame(0x82, [0, 126] + [UInt8](repeating: 0, count: 200)).masked(nil)),
        ]

    static let ofLength: [BadFrame] =
        [0x81, 0x82, 0x01, 0x02].flatMap { (first: UInt8) in
            [
                BadFrame("no bytes in the form for 126", .webSocketProtocol, at: 3, TestFrame(first).announcing(0, .twoBytes)),
                BadFrame(
                    "125 bytes in the form for 126", .webSocketProtocol, at: 3, TestFrame(first, count: 125).announcing(125, .twoBytes)),
                BadFrame("125 bytes in the form for 65,536", .webSocketProtocol, at: 9, TestFrame(first).announcing(125, .eightBytes)),
                BadFrame(
                    "65,535 bytes in the form for 65,536", .webSocketProtocol, at: 9, TestFrame(first).announcing(65_535, .eightBytes)),
                BadFrame("a length of 126 · 2⁴⁸", .messageTooBig, at: 9, TestFrame(first, count: 200).announcing(126 << 48)),
                BadFrame("a length of 2⁶³", .webSocketProtocol, at: 2, TestFrame(first).announcing(1 << 63)),
                BadFrame("a length of 2⁶⁴ - 1", .webSocketProtocol, at: 2, TestFrame(first).announcing(.max)),
            ]
        } + [
            BadFrame(
                "a continuation of 125 bytes in the form for 126", .webSocketProtocol, at: 3, TestFrame(0x02),
                TestFrame(0x80).announcing(125, .twoBytes))
        ]
        + [0x88, 0x89, 0x8A].flatMap { (first: UInt8) in
            [
                BadFrame("a control frame of 126 bytes", .webSocketProtocol, at: 1, TestFrame(first, count: 126)),
                BadFrame("a control frame of 4 GiB", .webSocketProtocol, at: 1, TestFrame(first).announcing(1 << 32)),
                BadFrame("a control frame with two bytes of length", .webSocketProtocol, at: 1, TestFrame(first).announcing(2, .twoBytes)),
            ]
        }

    static let ofClose: [BadFrame] =
        [BadFrame("half a close code", .webSocketProtocol, at: 1, TestFrame(0x88, [3]))]
        + [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 1999, 2000, 2999, 5000, 32_768, 65_535].map {
            BadFrame("close code \($0)", .webSocketProtocol, at: 10, .close($0, Array("bye".utf8)))
        }
        + badTexts.map { BadFrame("a close reason \($0)", .invalidText, at: 7 + $0.count, .close(1000, $0)) }

    /// Text that ends within a character, overlong forms, surrogates, beyond U+10FFFF, no first byte.
    static let badTexts: [[UInt8]] = [
        [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x99], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF],
        [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0x80], [0xC3, 0x28],
    ]
}

struct FrameViolationTests {
    @Test(arguments: BadFrame.ofFirstByte + BadFrame.ofMask + BadFrame.ofLength + BadFrame.ofClose, [true, false])
    func aBadFrameIsRefusedAtTheByteThatShowsIt(frame: BadFrame, isWhole: Bool) {
        let before = TestFrame(0x82, count: 30)
        let stream = FrameStream(before.bytes + frame.bytes, pieceLength: isWhole ? .max : 1)
        #expect(stream.events.first == .binary(before.payload))
        #expect(stream.events.dropFirst().last == .violation(frame.reason))
        if !isWhole { #expect(stream.endOffset == before.bytes.count + frame.offset) }
    }

    @Test func aClientRefusesMaskedFrames() {
        for first in [0x81, 0x82, 0x01, 0x88, 0x89, 0x8A] as [UInt8] {
            let stream = FrameStream(TestFrame(first, count: 2).bytes, role: .client, pieceLength: 1)
            #expect(stream.events == [.violation(.webSocketProtocol)])
            #expect(stream.endOffset == 1)
            #expect(FrameStream(TestFrame(first, count: 2).bytes, role: .client).events == [.violation(.webSocketProtocol)])
        }
    }

    @Test(arguments: [1000...1003, 1007...1014, 3000...3000, 3999...4000, 4999...4999] as [ClosedRange<UInt16>])
    func registeredCloseCodesAreAccepted(codes: ClosedRange<UInt16>) {
        for code in codes {
            #expect(FrameStream(TestFrame.close(code, Array("Grüße, 🙂".utf8)).bytes).events == [.close(code)])
        }
    }

    // MARK: Text

    @Test(arguments: BadFrame.badTexts, [Int.max, 1])
    func textMustBeUTF8(bad: [UInt8], pieceLength: Int) {
        for text in [bad, Array("0123456789".utf8) + bad, Array("0123456ä".utf8) + bad] {
            #expect(FrameStream(TestFrame(0x81, text).bytes, pieceLength: pieceLength).events == [.violation(.invalidText)])
            let fragments = [TestFrame(0x01, Array(text.prefix(1))), TestFrame(0x89), TestFrame(0x80, Array(text.dropFirst()))]
            #expect(FrameStream(fragments.bytes, pieceLength: pieceLength).events.last == .violation(.invalidText))
        }
        #expect(FrameStream(TestFrame(0x82, bad).bytes, pieceLength: pieceLength).events == [.binary(bad)])
    }

    @Test(arguments: [0x80, 0xBF, 0xC0, 0xFF] as [UInt8])
    func aBadByteIsFoundAtEveryOffset(byte: UInt8) {
        for offset in 0..<32 {
            var text = [UInt8](repeating: 0x61, count: 32)
            text[offset] = byte
            #expect(FrameStream(TestFrame(0x81, text).bytes).events == [.violation(.invalidText)], "at \(offset)")
            #expect(FrameStream(TestFrame(0x81, text).bytes, pieceLength: 20).events == [.violation(.invalidText)], "at \(offset)")
        }
    }

    @Test func badTextIsRefusedBeforeItsFrameEnds() {
        var stream = FrameStream(TestFrame(0x01, [0x61, 0xFF]).announcing(1_000).bytes)
        #expect(stream.events == [.violation(.invalidText)])
        stream = FrameStream([TestFrame(0x01, [0x61, 0xF0]), TestFrame(0x00, [0x8F]).announcing(3)].bytes)
        #expect(stream.events == [.violation(.invalidText)])
    }

    @Test func theEndOfOneTextDoesNotMatterToTheNext() {
        let frames = [TestFrame(0x01, "a"), TestFrame(0x80, "ß"), TestFrame(0x01), TestFrame(0x80, "b")]
        #expect(FrameStream(frames.bytes).events == [.text("aß"), .text("b")])
    }

    /// Compared with the standard library's validation, for all boundaries of RFC 3629.
    @Test(arguments: [0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0x7F, 0x80] as [UInt8])
    func textIsValidatedAsByTheStandardLibrary(first: UInt8) {
        let bounds: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for second in bounds {
            for third in bounds {
                for fourth in bounds {
                    for bytes in [[first], [first, second], [first, second, third], [first, second, third, fourth]] {
                        let isValid = bytes.withUnsafeBytes { UTF8Validator.isValid($0) }
                        if isValid != (String(validating: bytes, as: UTF8.self) != nil) { Issue.record("\(bytes)") }
                    }
                }
            }
        }
    }

    // MARK: Limits

    private static let limits: [(first: UInt8, limit: Int)] = [
        (2, ProtocolLimits.messageBytesMax), (1, ProtocolLimits.controlBytesMax),
    ]

    @Test(arguments: limits, [Int.max, 1_000])
    func aMessageMayHaveJustItsLimit(kind: (first: UInt8, limit: Int), pieceLength: Int) {
        let payload = [UInt8](repeating: 0x61, count: kind.limit)
        let message: Received = kind.first == 2 ? .binary(payload) : .text(payload)
        let inOne = TestFrame(0x80 | kind.first, payload)
        let inTwo = [
            TestFrame(kind.first, Array(payload.dropLast(9))), TestFrame(0x8A, count: 125), TestFrame(0x80, Array(payload.suffix(9))),
        ]
        let stream = FrameStream(inOne.bytes + inTwo.bytes + inOne.bytes, pieceLength: pieceLength)
        #expect(stream.events == [message, .pong(inTwo[1].payload), message, message])
    }

    /// So that a client that sends no payload after the header gets its CLOSE frame at once.
    @Test(arguments: limits)
    func aMessageOverItsLimitIsRefusedInTheHeader(kind: (first: UInt8, limit: Int)) {
        for length in [UInt64(kind.limit) + 1, 1 << 32, .max >> 1] {
            for isFinal in [UInt8(0x80), 0] {
                let header = TestFrame(kind.first | isFinal).announcing(length).header
                let stream = FrameStream(header, pieceLength: 1)
                #expect(stream.events == [.violation(.messageTooBig)])
                #expect(stream.endOffset == header.count - 1)
                #expect(FrameStream(header).events == [.violation(.messageTooBig)])
            }
        }
    }

    @Test func aWholeFrameOverItsLimitIsRefused() {
        #expect(FrameStream(TestFrame(0x82, count: 16_385).bytes).events == [.violation(.messageTooBig)])
        #expect(FrameStream(TestFrame(0x82, count: 65_535).bytes).events == [.violation(.messageTooBig)])
        #expect(FrameStream(TestFrame(0x81, [UInt8](repeating: 0x61, count: 65_537)).bytes).events == [.violation(.messageTooBig)])
    }

    @Test(arguments: limits)
    func theLimitHoldsForAllFragmentsTogether(kind: (first: UInt8, limit: Int)) {
        let begin = [
            TestFrame(kind.first, [UInt8](repeating: 0x61, count: kind.limit - 384)), TestFrame(0x8A, count: 125), TestFrame(0x00),
        ].bytes
        #expect(FrameStream(begin + TestFrame(0x80).announcing(384).header).events.count == 1)
        for length in [385, 65_537, 1 << 32, .max >> 1] as [UInt64] {
            let header = TestFrame(0x80).announcing(length).header
            let stream = FrameStream(begin + header, pieceLength: 1)
            #expect(stream.events.last == .violation(.messageTooBig))
            #expect(stream.endOffset == begin.count + header.count - 1)
        }
    }

    // MARK: Memory

    @Test func noMemoryIsTakenForWhatWasAnnounced() {
        for frame in [TestFrame(0x82, count: 10).announcing(16_384), TestFrame(0x01, "abc").announcing(65_536)] {
            let stream = FrameStream(frame.bytes)
            #expect(stream.events.isEmpty)
            #expect(stream.framer.message.buffer.capacity < 1_024)
        }
    }

    /// A page that cannot be read follows the bytes that have arrived.
    @Test(arguments: [
        TestFrame(0x82, count: 3), TestFrame(0x82, count: 130), TestFrame(0x8A, count: 4), TestFrame(0x81, "0123456789ä"),
        TestFrame(0x81, String(repeating: "ä", count: 70)),
    ])
    func nothingIsReadBehindWhatHasArrived(frame: TestFrame) throws {
        let page = Int(getpagesize())
        let memory = try #require(mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        try #require(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0)
        defer { munmap(memory, 2 * page) }
        for count in 0...frame.bytes.count {
            var framer = WebSocketFramer(role: .server)
            var bytes = UnsafeMutableRawBufferPointer(start: memory + page - count, count: count)
            bytes.copyBytes(from: frame.bytes.prefix(count))
            var events = 0
            while framer.next(in: &bytes) != nil { events += 1 }
            #expect(events == (count < frame.bytes.count ? 0 : 1), "\(count) bytes")
        }
    }

    @Test func muchMemoryIsGivenBackAndLittleIsKept() {
        var stream = FrameStream(TestFrame(0x81, String(repeating: "a", count: 60_000)).bytes, pieceLength: 1_000)
        #expect(stream.events.count == 1)
        #expect(stream.framer.message.buffer.capacity == 0)
        stream.receive(TestFrame(0x82, count: 100).bytes, pieceLength: 7)
        #expect(stream.events.count == 2)
        #expect(stream.framer.message.buffer.isEmpty && (1..<4_096).contains(stream.framer.message.buffer.capacity))
    }

    @Test func aThousandPingsWithinAMessageTakeNoMemory() {
        var stream = FrameStream(TestFrame(0x02, count: 10).bytes)
        for _ in 0..<1_000 { stream.receive(TestFrame(0x89, count: 125).bytes, pieceLength: 50) }
        stream.receive(TestFrame(0x80, count: 1).bytes)
        #expect(stream.events.count == 1_001)
        #expect(stream.events.last == .binary(TestFrame(0x02, count: 10).payload + TestFrame(0x80, count: 1).payload))
        #expect(stream.framer.message.buffer.capacity < 1_024)
    }

    @Test func anIdleFramerIsSmall() {
        #expect(MemoryLayout<WebSocketFramer>.size <= 64)
    }
}
