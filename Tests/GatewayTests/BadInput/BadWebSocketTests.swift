import Testing
import Wire

@Suite("What breaks RFC 6455", .besideACall, .onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct BadWebSocketTests {
    struct BadFrames: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: UInt16?
        let bytes: [UInt8]

        init(_ story: String, _ code: UInt16?, _ frames: RawFrame...) {
            testDescription = story
            self.code = code
            bytes = frames.flatMap(\.bytes)
        }
    }

    private static let ping = #"{"type":"ping","id":7}"#
    private static func piece(_ opcode: UInt8, _ text: String, isFinal: Bool = false) -> RawFrame {
        RawFrame(isFinal: isFinal, opcode: opcode, payload: Array(text.utf8))
    }

    static let fatal: [BadFrames] = [
        BadFrames("text that is not masked", 1002, RawFrame(opcode: 1, payload: Array(ping.utf8), isMasked: false)),
        BadFrames("a frame that is not masked", 1002, RawFrame(opcode: 2, payload: [UInt8](repeating: 7, count: 80), isMasked: false)),
        BadFrames("1,000 bytes that are not masked", 1002, RawFrame(opcode: 2, payload: [UInt8](repeating: 7, count: 1_000), isMasked: false)),
        BadFrames("reserved bit 1", 1002, RawFrame(reserved: 4, opcode: 1, payload: Array(ping.utf8))),
        BadFrames("reserved bit 2", 1002, RawFrame(reserved: 2, opcode: 2, payload: [1])),
        BadFrames("reserved bit 3", 1002, RawFrame(reserved: 1, opcode: 2, payload: [1])),
        BadFrames("opcode 3", 1002, RawFrame(opcode: 3, payload: [1])),
        BadFrames("opcode 7", 1002, RawFrame(opcode: 7, payload: [1])),
        BadFrames("opcode 11", 1002, RawFrame(opcode: 11, payload: [1])),
        BadFrames("opcode 15", 1002, RawFrame(opcode: 15, payload: [1])),
        BadFrames("a ping in pieces", 1002, RawFrame(isFinal: false, opcode: 9, payload: [1])),
        BadFrames("a continuation of nothing", 1002, piece(0, ping, isFinal: true)),
        BadFrames("a message inside another", 1002, piece(1, "{"), piece(1, ping, isFinal: true)),
        BadFrames("a length of 2⁶³ and more", nil, RawFrame(opcode: 2, payload: [1], claimedLength: .max)),
        BadFrames("a length of just under 2⁶³", 1009, RawFrame(opcode: 2, payload: [1], claimedLength: .max >> 1)),
        BadFrames(
            "a length of just under 2⁶³ in the second piece", 1009, RawFrame(isFinal: false, opcode: 2, payload: [1, 2, 3]),
            RawFrame(opcode: 0, payload: [1, 2, 3], claimedLength: .max >> 1)),
        BadFrames("a length of 4 GiB", 1009, RawFrame(opcode: 1, payload: [1], claimedLength: 1 << 32)),
        BadFrames("16,385 bytes in two pieces", 1009, RawFrame(isFinal: false, opcode: 2, payload: [UInt8](repeating: 1, count: 16_000)), RawFrame(opcode: 0, payload: [UInt8](repeating: 1, count: 385))),
        BadFrames("text that is not UTF-8, in two pieces", 1007, piece(1, "{"), RawFrame(opcode: 0, payload: [0xFF])),
    ]

    @Test("ends the connection with a code", arguments: fatal)
    func fatal(_ bad: BadFrames) throws {
        let gateway = try TestGateway.besideACall
        let eve = try join(gateway)
        let before = try gateway.value(.participants)
        try? eve.socket.socket.write(bad.bytes)
        #expect(try eve.closeCode() == bad.code)
        try Patience.until("Eve is gone") { try gateway.value(.participants) == before - 1 }
    }

    @Test("is counted where the gateway itself finds it")
    func counted() throws {
        let gateway = try TestGateway.besideACall
        let before = try gateway.value(.closed(1002))
        let eve = try join(gateway)
        try eve.socket.send(RawFrame(opcode: 1, payload: Array(Self.ping.utf8), isMasked: false))
        #expect(try eve.closeCode() == 1002)
        #expect(try gateway.value(.closed(1002)) == before + 1)
    }

    static let harmless: [BadFrames] = [
        BadFrames("a ping of 126 bytes", nil, .ping([UInt8](repeating: 1, count: 126)), .text(ping)),
        BadFrames("a pong that nobody asked for", nil, RawFrame(opcode: 10, payload: [1, 2, 3]), .text(ping)),
        BadFrames("a pong of four bytes", nil, RawFrame(opcode: 10, payload: [0, 0, 0, 9]), .text(ping)),
        BadFrames("empty pieces", nil, piece(1, ""), piece(0, ping), piece(0, "", isFinal: true)),
    ]

    @Test("is passed over if it does no harm", arguments: harmless)
    func harmless(_ odd: BadFrames) throws {
        let eve = try join(TestGateway.besideACall)
        try eve.socket.socket.write(odd.bytes)
        #expect(try eve.answer(to: 7).get().t == 0)
    }

    @Test("is not a message in pieces of one byte with pings between them")
    func piecesOfOneByte() throws {
        let eve = try join(TestGateway.besideACall)
        let text = Array(#"{"type":"ping","id":7,"data":{"t":9}}"#.utf8)
        for (index, byte) in text.enumerated() {
            let isFinal = index == text.count - 1
            try eve.socket.send(RawFrame(isFinal: isFinal, opcode: index == 0 ? 1 : 0, payload: [byte]))
            if !isFinal { try eve.socket.send(.ping([UInt8(index)])) }
        }
        #expect(try eve.answer(to: 7).get().t == 9)
    }

    @Test("is not a message of which every byte comes alone")
    func byteByByte() throws {
        let eve = try join(TestGateway.besideACall)
        for byte in RawFrame.text(#"{"type":"ping","id":7,"data":{"t":9}}"#).bytes { try eve.socket.socket.write([byte]) }
        #expect(try eve.answer(to: 7).get().t == 9)
    }

    @Test("is not a frame that straddles what is read at once", arguments: [1, 100, 125, 126, 500, 1_000, 1_400, 1_488])
    func straddling(_ packetBytes: Int) throws {
        let gateway = try TestGateway.besideACall
        let room = "straddling \(packetBytes)"
        let (eve, lea) = try (join(gateway, room: room), join(gateway, room: room, as: "lea"))
        let track = try eve.publish()
        let frames = (0..<60).map { TestFrame.bytes(track.alias, $0, packetBytes: packetBytes) }
        try eve.socket.socket.write(frames.flatMap { RawFrame.binary($0).bytes })
        try lea.take(until: "60 frames") { $0.frames.count == 60 }
        #expect(lea.frames.map(\.bytes) == frames)
        try eve.settle()
    }

    @Test("is not what comes with the last packet of the handshake")
    func beforeHello() throws {
        let gateway = try TestGateway.besideACall
        let before = try gateway.value(.dropped("not_published"))
        let early = RawFrame.binary(TestFrame.bytes(TrackAlias(1), 0)).bytes + RawFrame.text(Self.ping).bytes
        let socket = try RawWebSocket(
            on: .secure(port: gateway.port), asking: .upgrade(token: TestToken.joining("early", as: "eve")), then: early)
        guard case .text(let first) = try socket.next(), case .event(.hello, seq: 1) = try ServerMessage(parsing: first) else {
            throw DidNotHappen(what: "hello first")
        }
        guard case .text(let second) = try socket.next(), case .reply(re: 7, _) = try ServerMessage(parsing: second) else {
            throw DidNotHappen(what: "the reply second")
        }
        #expect(try gateway.value(.dropped("not_published")) == before + 1)
    }

    @Test("is a close that is answered with its own code", arguments: [1000, 1001, 3000, 4999])
    func close(_ code: UInt16) throws {
        let eve = try join(TestGateway.besideACall)
        eve.socket.isPolite = false
        try eve.socket.send(.close(code))
        #expect(try eve.closeCode() == code)
    }

    @Test("is a close with half a code, or one that may not be sent", arguments: [[3], [0x03, 0xED], [0, 0], [0x03, 0xE8, 0xFF]] as [[UInt8]])
    func oddClose(_ payload: [UInt8]) throws {
        let gateway = try TestGateway.besideACall
        let before = try gateway.value(.participants)
        let eve = try join(gateway)
        try eve.socket.send(RawFrame(opcode: 8, payload: payload))
        _ = try eve.closeCode()
        try Patience.until("Eve is gone") { try gateway.value(.participants) == before }
    }

    private func join(_ gateway: TestGateway, room: String = "table", as identity: String = "eve") throws -> Caller {
        try Caller(gateway, room: room, identity: identity)
    }
}
