import Gateway
import TLSRecords
import Testing
import Wire

/// CLOSE frames and pings from clients (RFC 6455 section 5.5), with the fast path on and off.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ControlFrameTests {
    /// How the gateway processes TLS records.
    enum Records: CaseIterable, Sendable {
        case usual, fastPathOff, tls12
    }

    private func gateway(_ records: Records) throws -> TestGateway {
        try TestGateway { if records == .fastPathOff { $0.fastPath = TLSFastPath(.off) } }
    }

    private func join(_ gateway: TestGateway, _ records: Records) throws -> Caller {
        let socket = try RawSocket.secure(port: gateway.port, offering: records == .tls12 ? .upTo12 : .recent)
        let ask = HTTPAsk.upgrade(token: TestToken.joining("r", as: "eve"))
        return try Caller(on: try RawWebSocket(on: socket, asking: ask), goingOnAfter: 0)
    }

    /// Reads to the end of the connection, and how long that took.
    private func timeToEnd(of caller: Caller) throws -> Duration {
        let start = ContinuousClock.now
        while try !caller.socket.socket.read(within: .seconds(10)).isEmpty {}
        return ContinuousClock.now - start
    }

    @Test(arguments: Records.allCases)
    func aCloseIsEchoedWithItsCodeAndEndsTheConnection(records: Records) throws {
        let gateway = try gateway(records)
        defer { withExtendedLifetime(gateway) {} }
        for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 4999] as [UInt16] {
            let eve = try join(gateway, records)
            eve.socket.isPolite = false
            try eve.socket.send(RawFrame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + Array("bye".utf8)))
            #expect(try eve.socket.ending() == .close(code, "bye"))
            #expect(try timeToEnd(of: eve) < .seconds(1), "\(code)")
        }
    }

    @Test(arguments: Records.allCases)
    func aCloseWithoutACodeIsEchoedWithoutOne(records: Records) throws {
        let gateway = try gateway(records)
        defer { withExtendedLifetime(gateway) {} }
        let eve = try join(gateway, records)
        eve.socket.isPolite = false
        try eve.socket.send(RawFrame(opcode: 8))
        #expect(try eve.socket.ending() == .close(nil, ""))
        #expect(try timeToEnd(of: eve) < .seconds(1))
    }

    private static let violations = [
        RawFrame(opcode: 1, payload: [1], isMasked: false), .close(1005),
        RawFrame(opcode: 2, payload: [UInt8](repeating: 1, count: 16_385)),
    ]

    @Test(arguments: Records.allCases, violations)
    func aConnectionEndsWithinASecondOfBothCloseFrames(records: Records, violation: RawFrame) throws {
        let gateway = try gateway(records)
        defer { withExtendedLifetime(gateway) {} }
        let eve = try join(gateway, records)
        try eve.socket.send(violation)
        // Answers the CLOSE frame and keeps TCP open.
        #expect(try eve.closeCode() == (violation.payload.count > 1_000 ? 1009 : 1002))
        #expect(try timeToEnd(of: eve) < .milliseconds(1_500))
    }

    @Test(arguments: Records.allCases)
    func aViolationInsteadOfACloseFrameEndsTheConnectionToo(records: Records) throws {
        let gateway = try gateway(records)
        defer { withExtendedLifetime(gateway) {} }
        let eve = try join(gateway, records)
        eve.socket.isPolite = false
        try eve.socket.send(text: #"{"type":"leave","id":1}"#)
        #expect(try eve.closeCode() == 1000)
        try eve.socket.send(RawFrame(opcode: 3))
        #expect(try timeToEnd(of: eve) < .milliseconds(1_500))
    }

    @Test(arguments: Records.allCases)
    func aPingIsAnsweredWithItsPayload(records: Records) throws {
        let gateway = try gateway(records)
        defer { withExtendedLifetime(gateway) {} }
        let eve = try join(gateway, records)
        for payload in [[], [7], [UInt8](repeating: 9, count: 125)] as [[UInt8]] {
            try eve.socket.send(.ping(payload))
            #expect(try pong(to: eve) == payload)
        }
        try eve.settle()
    }

    @Test(arguments: Records.allCases, [true, false])
    func theLastOfTenPingsIsAnswered(records: Records, areInOneRecord: Bool) throws {
        let gateway = try gateway(records)
        defer { withExtendedLifetime(gateway) {} }
        let eve = try join(gateway, records)
        for round in 0..<20 {
            let pings = (0..<10).map { RawFrame.ping([UInt8(round), $0]).bytes }
            let socket = eve.socket.socket
            if areInOneRecord {
                try socket.write(pings.flatMap { $0 })
            } else {
                try socket.together { for ping in pings { try socket.write(ping) } }
            }
            while try pong(to: eve) != [UInt8(round), 9] {}
        }
    }

    @Test(arguments: Records.allCases)
    func pingsAmongOtherFramesAreAnsweredAndNothingIsLost(records: Records) throws {
        let gateway = try gateway(records)
        defer { withExtendedLifetime(gateway) {} }
        let eve = try join(gateway, records)
        let text = Array(#"{"type":"ping","id":7,"data":{"t":9}}"#.utf8)
        try eve.socket.socket.write(
            RawFrame(isFinal: false, opcode: 1, payload: Array(text.prefix(5))).bytes + RawFrame.ping([1]).bytes
                + RawFrame(opcode: 0, payload: Array(text.dropFirst(5))).bytes + RawFrame.ping([2]).bytes)
        #expect(try eve.answer(to: 7).get().t == 9)
    }

    private func pong(to caller: Caller) throws -> [UInt8]? {
        while true {
            switch try caller.socket.next() {
            case .pong(let payload): return payload
            case .end, .close: throw DidNotHappen(what: "a pong; the connection ended")
            default: continue
            }
        }
    }
}
