import Testing
import Wire

@testable import Sockets

/// The frames that a server or client accepts, and what it makes of them.
struct FrameParsingTests {
    /// Whole, and cut into pieces of every small length.
    private static let pieceLengths = [Int.max, 1, 2, 3, 7]

    /// RFC 6455 section 5.7.
    @Test(arguments: pieceLengths)
    func theExamplesOfTheStandardAreRead(pieceLength: Int) {
        let hello: [UInt8] = [0x48, 0x65, 0x6C, 0x6C, 0x6F]
        let toServer: [([UInt8], [Received])] = [
            ([0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], [.text(hello)]),
            ([0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], [.pong(hello)]),
        ]
        let toClient: [([UInt8], [Received])] = [
            ([0x81, 0x05] + hello, [.text(hello)]), ([0x01, 0x03] + hello.prefix(3) + [0x80, 0x02] + hello.suffix(2), [.text(hello)]),
            ([0x89, 0x05] + hello, [.ping(hello)]),
            ([0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 7, count: 256), [.binary([UInt8](repeating: 7, count: 256))]),
        ]
        for (bytes, events) in toServer { #expect(FrameStream(bytes, role: .server, pieceLength: pieceLength).events == events) }
        for (bytes, events) in toClient { #expect(FrameStream(bytes, role: .client, pieceLength: pieceLength).events == events) }
    }

    @Test(arguments: [true, false])
    func messagesOfEveryLengthKeepTheirBytes(masked: Bool) {
        for length in Array(0...140) + [255, 256, 300, 1_000, 16_383, 16_384] {
            let frame = TestFrame(0x82, count: length).masked(masked ? [0x9A, 0x01, 0xFE, 0x33] : nil)
            for pieceLength in [Int.max, 5] {
                let stream = FrameStream(frame.bytes, role: masked ? .server : .client, pieceLength: pieceLength)
                #expect(stream.events == [.binary(frame.payload)], "\(length) bytes")
            }
        }
    }

    @Test(arguments: pieceLengths)
    func messagesAndPongsArriveInOrder(pieceLength: Int) {
        let frames = [
            TestFrame(0x82, count: 92), TestFrame(0x8A, count: 4), TestFrame(0x81, "{}"), TestFrame(0x82), TestFrame(0x81),
            TestFrame(0x82, count: 200), TestFrame(0x8A, count: 125), TestFrame(0x81, String(repeating: "ä", count: 4_000)),
        ]
        let expected: [Received] = [
            .binary(frames[0].payload), .pong(frames[1].payload), .text("{}"), .binary([]), .text(""), .binary(frames[5].payload),
            .pong(frames[6].payload), .text(frames[7].payload),
        ]
        let stream = FrameStream(frames.bytes, pieceLength: pieceLength)
        #expect(stream.events == expected)
        #expect(stream.framer.isBetweenMessages)
    }

    @Test(arguments: pieceLengths)
    func fragmentsComeTogetherAndControlFramesBetweenThemArriveAtOnce(pieceLength: Int) {
        let frames = [
            TestFrame(0x01, "Gr\u{fc}"), TestFrame(0x89, count: 125), TestFrame(0x00), TestFrame(0x8A), TestFrame(0x00, "\u{df}"),
            TestFrame(0x89), TestFrame(0x80, "e"), TestFrame(0x02, count: 3), TestFrame(0x80, count: 300), TestFrame(0x02), TestFrame(0x80),
        ]
        let expected: [Received] = [
            .ping(frames[1].payload), .pong([]), .ping([]), .text("Grüße"), .binary(frames[7].payload + frames[8].payload), .binary([]),
        ]
        #expect(FrameStream(frames.bytes, pieceLength: pieceLength).events == expected)
    }

    /// In place, so that the way of a media frame copies nothing.
    @Test(arguments: [UInt8(0x81), 0x82, 0x89, 0x8A])
    func aWholeFrameIsDeliveredWhereItLies(first: UInt8) {
        var framer = WebSocketFramer(role: .server)
        var memory = [TestFrame(first, "abc"), TestFrame(first, "defgh")].bytes
        memory.withUnsafeMutableBytes { memory in
            var bytes = memory
            for offset in [6, 15] {
                switch framer.next(in: &bytes) {
                case .binary(let payload), .text(let payload), .ping(let payload), .pong(let payload):
                    #expect(payload.baseAddress == UnsafeRawPointer(memory.baseAddress! + offset))
                default: Issue.record("no message")
                }
            }
        }
        #expect(framer.message.buffer.capacity == 0)
    }

    @Test func aStreamStandsBetweenMessagesOnlyOutsideOfFramesAndMessages() {
        var stream = FrameStream()
        #expect(stream.framer.isBetweenMessages)
        for byte in [TestFrame(0x02, count: 3), TestFrame(0x89, count: 1), TestFrame(0x00), TestFrame(0x80, count: 1)].bytes.dropLast() {
            stream.receive([byte])
            #expect(!stream.framer.isBetweenMessages && stream.framer.receivedClosePayload.isEmpty)
        }
        stream.receive([0])
        #expect(stream.framer.isBetweenMessages)
        for byte in TestFrame(0x81, "abc").bytes.dropLast() {
            stream.receive([byte])
            #expect(!stream.framer.isBetweenMessages)
        }
    }

    @Test func anEmptyPieceDoesNotMatter() {
        var framer = WebSocketFramer(role: .server)
        var events: [Received] = []
        let frames = [TestFrame(0x02, count: 5), TestFrame(0x89, count: 6), TestFrame(0x80, count: 130), TestFrame(0x81, "ä")]
        for byte in frames.bytes {
            var memory = [byte]
            memory.withUnsafeMutableBytes { memory in
                var (piece, nothing) = (memory, UnsafeMutableRawBufferPointer(start: nil, count: 0))
                while let event = framer.next(in: &piece) { events.append(Received(event)) }
                #expect(framer.next(in: &nothing) == nil)
            }
        }
        #expect(events == [.ping(frames[1].payload), .binary(frames[0].payload + frames[2].payload), .text("ä")])
    }

    @Test(arguments: pieceLengths)
    func aCloseEndsTheStreamAndKeepsItsPayloadForTheAnswer(pieceLength: Int) {
        for frame in [
            TestFrame.close(1000, Array("bye".utf8)), .close(4999), TestFrame(0x88), .close(1001, .init(repeating: 0x61, count: 123)),
        ] {
            let frames = [TestFrame(0x01, "a"), frame, TestFrame(0x80, "b"), TestFrame(0x89), TestFrame(0xFF)]
            let stream = FrameStream(frames.bytes, pieceLength: pieceLength)
            let code = frame.payload.isEmpty ? 1005 : UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1])
            #expect(stream.events == [.close(code)])
            #expect(stream.framer.receivedClosePayload == frame.payload)
            #expect(!stream.framer.isBetweenMessages)
        }
    }

    @Test(arguments: pieceLengths)
    func nothingIsReadAfterAViolation(pieceLength: Int) {
        let frames = [TestFrame(0x01, "a"), TestFrame(0x83), TestFrame(0x80, "b"), TestFrame(0x82), TestFrame.close(1000)]
        let stream = FrameStream(frames.bytes, pieceLength: pieceLength)
        #expect(stream.events == [.violation(.webSocketProtocol)])
        #expect(stream.framer.receivedClosePayload.isEmpty && stream.framer.message.buffer.capacity == 0)
    }
}

/// Random streams of valid frames, and what they contain.
private struct RandomStream {
    var frames: [TestFrame] = []
    var events: [Received] = []

    init(_ random: inout SplitMix64, masked: Bool) {
        for _ in 0..<(1 + random.below(12)) {
            let isBinary = random.below(2) == 0
            let payload = isBinary ? Self.bytes(&random, upTo: 2_000) : Self.text(&random)
            addMessage(payload, isBinary: isBinary, &random)
            while random.below(3) == 0 { addControl(&random) }
        }
        if random.below(3) == 0 {
            frames.append(.close(1000, Array("bye".utf8)))
            events.append(.close(1000))
        }
        for index in frames.indices {
            frames[index].mask = masked ? (0..<4).map { _ in UInt8(random.below(256)) } : nil
        }
    }

    private mutating func addMessage(_ payload: [UInt8], isBinary: Bool, _ random: inout SplitMix64) {
        var rest = payload[...]
        var first: UInt8 = isBinary ? 2 : 1
        for _ in 0..<(random.below(2) * random.below(5)) {
            let piece = rest.prefix(random.below(rest.count + 1))
            rest = rest.dropFirst(piece.count)
            frames.append(TestFrame(first, Array(piece)))
            first = 0
            if random.below(3) == 0 { addControl(&random) }
        }
        frames.append(TestFrame(first | 0x80, Array(rest)))
        events.append(isBinary ? .binary(payload) : .text(payload))
    }

    private mutating func addControl(_ random: inout SplitMix64) {
        let payload = Self.bytes(&random, upTo: 125)
        let isPing = random.below(2) == 0
        frames.append(TestFrame(isPing ? 0x89 : 0x8A, payload))
        events.append(isPing ? .ping(payload) : .pong(payload))
    }

    private static func bytes(_ random: inout SplitMix64, upTo limit: Int) -> [UInt8] {
        let lengths = [0, 1, 7, 92, 125, 126, 127, 400, 2_000].filter { $0 <= limit }
        let (length, first) = (lengths[random.below(lengths.count)], random.next())
        return (0..<length).map { UInt8(truncatingIfNeeded: first &* UInt64($0 &+ 1)) }
    }

    private static func text(_ random: inout SplitMix64) -> [UInt8] {
        let characters = ["a", "ß", "€", "🙂", "\u{7FF}", "\u{FFFF}", "\u{10FFFF}"].map { Array($0.utf8) }
        return (0..<[0, 3, 40, 130][random.below(4)]).flatMap { _ in characters[random.below(characters.count)] }
    }
}

/// How a stream is cut does not matter.
struct FrameCuttingTests {
    @Test(arguments: [true, false])
    func randomStreamsGiveTheSameEventsInAnyPieces(masked: Bool) {
        for seed in 0..<20 {
            var random = SplitMix64(seed: UInt64(seed))
            let sent = RandomStream(&random, masked: masked)
            let role: WebSocketFramer.Role = masked ? .server : .client
            #expect(FrameStream(sent.frames.bytes, role: role).events == sent.events, "seed \(seed)")
            for _ in 0..<4 {
                var stream = FrameStream(role: role)
                stream.receive(sent.frames.bytes, cutBy: &random)
                #expect(stream.events == sent.events, "seed \(seed)")
            }
        }
    }

    @Test func aStreamGivesTheSameEventsWhereverItIsCut() {
        let frames = [
            TestFrame(0x82, count: 92), TestFrame(0x01, "Gr\u{fc}"), TestFrame(0x89, count: 9), TestFrame(0x80, "\u{df}e 🙂"),
            TestFrame(0x82, count: 130), TestFrame(0x8A, count: 4), TestFrame.close(1000, Array("\u{fc}".utf8)),
        ]
        let bytes = frames.bytes
        let expected = FrameStream(bytes).events
        #expect(expected.count == 6)
        for cut in 0...bytes.count {
            var stream = FrameStream()
            stream.receive(Array(bytes.prefix(cut)))
            stream.receive(Array(bytes.dropFirst(cut)))
            #expect(stream.events == expected, "cut at \(cut)")
        }
    }

    @Test func damagedStreamsGiveTheSameEventsInAnyPieces() {
        for seed in 0..<60 {
            var random = SplitMix64(seed: UInt64(seed) &+ 1_000)
            var bytes = RandomStream(&random, masked: true).frames.bytes
            bytes[random.below(min(bytes.count, 600))] ^= UInt8(1 << random.below(8))
            let whole = FrameStream(bytes).events
            for _ in 0..<3 {
                var stream = FrameStream()
                stream.receive(bytes, cutBy: &random)
                #expect(stream.events == whole, "seed \(seed)")
            }
        }
    }
}
