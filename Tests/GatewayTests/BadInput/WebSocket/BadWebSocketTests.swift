import Testing
import Wire

@Suite("A WebSocket connection", .besideACall, .onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct BadWebSocketTests {
    @Test("is closed with a code after a violation", arguments: BadWebSocket.fatal)
    func fatal(_ bad: BadWebSocket) throws {
        let gateway = try TestGateway.besideACall
        let eve = try join(gateway)
        let before = try gateway.value(.participants)
        try? eve.socket.socket.write(bad.bytes)
        #expect(try eve.closeCode() == bad.code)
        // The gateway would wait for this for a second.
        eve.socket.socket.close()
        try Patience.until("Eve is gone") { try gateway.value(.participants) == before - 1 }
    }

    @Test(
        "is closed after a header that announces too much, without its payload",
        arguments: [(1, 65_537, 1009), (2, 16_385, 1009), (2, .max >> 1, 1009), (2, 1 << 63, 1002), (9, 126, 1002)]
            as [(UInt8, UInt64, UInt16)])
    func headerOnly(opcode: UInt8, length: UInt64, code: UInt16) throws {
        let eve = try join(TestGateway.besideACall)
        try eve.socket.send(RawFrame(opcode: opcode, claimedLength: length))
        #expect(try eve.closeCode() == code)
    }

    @Test("is reported to others as the client's fault after a violation", arguments: BadWebSocket.fatal.filter { $0.code != nil })
    func fault(_ bad: BadWebSocket) throws {
        let gateway = try TestGateway.besideACall
        let lea = try join(gateway, room: "fault", as: "lea")
        let eve = try join(gateway, room: "fault")
        try? eve.socket.socket.write(bad.bytes)
        _ = try eve.closeCode()
        eve.socket.socket.close()
        try lea.await(.participantLeft(eve.hello.participant.identity, reason: .stateMismatch))
    }

    @Test("counts violations that the gateway detects")
    func counted() throws {
        let gateway = try TestGateway.besideACall
        let before = try gateway.value(.closed(1002))
        let eve = try join(gateway)
        try eve.socket.send(RawFrame(opcode: 1, payload: Array(BadWebSocket.ping.utf8), isMasked: false))
        #expect(try eve.closeCode() == 1002)
        #expect(try gateway.value(.closed(1002)) == before + 1)
    }

    @Test("tolerates harmless oddities", arguments: BadWebSocket.harmless)
    func harmless(_ odd: BadWebSocket) throws {
        let eve = try join(TestGateway.besideACall)
        try eve.socket.socket.write(odd.bytes)
        #expect(try eve.answer(to: 7).get().t == 0)
    }

    @Test("accepts fragments of one byte with pings between them")
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

    @Test("accepts a message whose bytes arrive one by one")
    func byteByByte() throws {
        let eve = try join(TestGateway.besideACall)
        for byte in RawFrame.text(#"{"type":"ping","id":7,"data":{"t":9}}"#).bytes { try eve.socket.socket.write([byte]) }
        #expect(try eve.answer(to: 7).get().t == 9)
    }

    @Test("accepts a frame that spans two reads", arguments: [1, 100, 125, 126, 500, 1_000, 1_400, 1_488])
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

    @Test("is refused if frames arrive with the request, before the response")
    func beforeAnswer() throws {
        let gateway = try TestGateway.besideACall
        let before = try gateway.metrics()
        let early = RawFrame.binary(TestFrame.bytes(TrackAlias(1), 0)).bytes + RawFrame.text(BadWebSocket.ping).bytes
        let socket = try RawWebSocket(
            on: .secure(port: gateway.port), asking: .upgrade(token: TestToken.joining("early", as: "eve")), then: early)
        #expect(try socket.ending() == .end)
        try Patience.until("Eve is gone") { try gateway.value(.participants) == before.value(.participants) }
        #expect(try gateway.value(.controlReceived) == before.value(.controlReceived), "nothing of it was done")
    }

    @Test("accepts frames sent before hello is read")
    func beforeHello() throws {
        let gateway = try TestGateway.besideACall
        let before = try gateway.value(.dropped("not_published"))
        let socket = try gateway.webSocket(.upgrade(token: TestToken.joining("early", as: "eve")))
        try socket.socket.write(RawFrame.binary(TestFrame.bytes(TrackAlias(1), 0)).bytes + RawFrame.text(BadWebSocket.ping).bytes)
        guard case .text(let first) = try socket.next(), case .event(.hello, seq: 1) = try ServerMessage(parsing: first) else {
            throw DidNotHappen(what: "hello first")
        }
        guard case .text(let second) = try socket.next(), case .reply(re: 7, _) = try ServerMessage(parsing: second) else {
            throw DidNotHappen(what: "the reply second")
        }
        #expect(try gateway.value(.dropped("not_published")) == before + 1)
    }

    private func join(_ gateway: TestGateway, room: String = "table", as identity: String = "eve") throws -> Caller {
        try Caller(gateway, room: room, identity: identity)
    }
}
