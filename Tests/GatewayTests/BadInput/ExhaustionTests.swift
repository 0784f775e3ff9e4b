import Foundation
import Gateway
import TLSRecords
import Testing

/// Many clients that take up what the gateway has only a limited amount of.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(3)))
struct ExhaustionTests {
    /// libwebsockets gives each started head a buffer, and each gateway has connections and threads to lose.
    @Test(arguments: [TLSFastPath.Mode.auto, .off])
    func slowHeadsDelayNobodyAndAreCutOff(mode: TLSFastPath.Mode) throws {
        let gateway = try TestGateway {
            $0.fastPath = TLSFastPath(mode)
            $0.handshakeSecondsMax = 3
        }
        let abandoned = Counter(name: "patchbay_handshakes_abandoned_total")
        let before = try gateway.value(abandoned)
        let slow = try (0..<60).map { _ in
            let socket = try RawSocket.secure(port: gateway.port)
            try socket.write(Array("GET /healthz HTTP/1.1\r\nHost: h\r\nX-Slow: ".utf8))
            return socket
        }
        let started = ContinuousClock.now
        let late = try Caller(gateway, room: "r", identity: "late")
        try late.settle()
        #expect(ContinuousClock.now - started < .seconds(3))
        try Patience.until("they are cut off", within: .seconds(30)) { try gateway.value(abandoned) >= before + 60 }
        for socket in slow { #expect(try socket.read().isEmpty) }
        try late.settle()
    }

    /// More than a shard takes up in one turn.
    @Test func handshakesThatBeginTogetherAreAllAnswered() throws {
        let gateway = try TestGateway()
        let bystanders = try BystanderCall(on: gateway)
        let clients = try (0..<300).map { _ in try RawSocket(port: gateway.port) }
        let hello = RawSocket.clientHello
        for client in clients { try client.writeAsTheyAre(hello) }
        for client in clients { #expect(try client.read().first == 22, "a handshake record (RFC 8446 section 5.1)") }
        let report = bystanders.finish()
        #expect(report.isSound, "\(report)")
    }

    @Test func connectionsBeyondTheLimitAreTurnedAwayAndOthersGoOn() throws {
        let gateway = try TestGateway { $0.connectionsMax = 30 }
        let eve = try Caller(gateway, room: "r", identity: "eve")
        let silent = try (0..<60).map { _ in try RawSocket(port: gateway.port) }
        try Patience.until("those over the limit are closed") {
            silent.count { (try? $0.read(within: .zero))?.isEmpty ?? false } >= 31
        }
        try eve.settle()
    }
}

/// Bytes below TLS, on a connection that has joined, however the gateway processes records.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct BadRecordsTests {
    static let records: [(String, [UInt8])] = [
        ("a wrong tag", [23, 3, 3, 0, 64] + [UInt8](repeating: 7, count: 64)),
        ("too long", [23, 3, 3, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 1_000)),
        ("an unknown type", [99, 3, 3, 0, 1, 1]), ("shorter than a tag", [23, 3, 3, 0, 3, 1, 2, 3]), ("empty", [23, 3, 3, 0, 0]),
        ("a warning in the clear", [21, 3, 3, 0, 2, 1, 90]), ("a ClientHello", RawSocket.clientHello),
        ("HTTP", Array("GET / HTTP/1.1\r\n\r\n".utf8)),
    ]

    @Test(arguments: ControlFrameTests.Records.allCases)
    func endTheConnectionAndNothingElse(path: ControlFrameTests.Records) throws {
        let gateway = try TestGateway { if path == .fastPathOff { $0.fastPath = TLSFastPath(.off) } }
        let bystanders = try BystanderCall(on: gateway)
        let before = try gateway.value(.participants)
        for (name, bytes) in Self.records {
            let socket = try RawSocket.secure(port: gateway.port, offering: path == .tls12 ? .upTo12 : .recent)
            let ask = HTTPAsk.upgrade(token: TestToken.joining("records", as: "mallory"))
            let mallory = try Caller(on: try RawWebSocket(on: socket, asking: ask), goingOnAfter: 0)
            try socket.writeAsTheyAre(bytes)
            while try !socket.read(within: .seconds(5)).isEmpty {}
            try Patience.until("Mallory is gone after \(name)") { try gateway.value(.participants) == before }
            withExtendedLifetime(mallory) {}
        }
        let report = bystanders.finish()
        #expect(report.isSound, "\(report)")
    }
}
