import Backend
import Engine
import Gateway
import Identity
import Logging
import Testing
import Wire

/// The operator's log of a gateway over real sockets.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct OperatorLogTests {
    private let log = RecordedLog()

    @Test(arguments: [[0, 0], [0, 1]])
    func aCallIsLoggedFromBeginningToEndWithoutAStore(shards: [Int]) async throws {
        let gateway = try TestGateway(operatorLog: log.operatorLog())
        let ann = try Caller(gateway, room: "r", identity: "ann", shard: shards[0])
        let bob = try Caller(gateway, room: "r", identity: "bob", shard: shards[1])
        _ = try bob.publish()
        try bob.socket.send(text: #"{"type":"leave","data":{}}"#)
        #expect(try bob.closeCode() == 1000)
        #expect(await gateway.gateway.rooms.attempt(.close(.roomDeleted), in: "r"))
        #expect(try ann.closeCode() == 4102)
        #expect(
            log.lines.map(\.message) == [
                "room started", "participant joined", "participant joined", "participant left", "participant left", "room ended",
            ])
        #expect(log.lines.allSatisfy { $0.level == .info && $0["room"] == "r" && $0["room_sid"]?.hasPrefix("RM_") == true })
        #expect(log.lines("participant joined").map { $0["identity"] } == ["ann", "bob"])
        let left = log.lines("participant left")
        #expect(left.map { $0["reason"] } == ["CLIENT_INITIATED", "ROOM_DELETED"])
        #expect(left.allSatisfy { $0["seconds"].flatMap { Int($0) } != nil })
    }

    @Test func aHigherLevelCostsNothing() throws {
        let gateway = try TestGateway(operatorLog: log.operatorLog(level: .warning))
        _ = try Caller(gateway, room: "r", identity: "ann")
        _ = try HTTPAsk.upgrade(token: "no token").answer(port: gateway.port)
        _ = try gateway.metrics()
        #expect(log.lines.isEmpty)
    }

    @Test func refusedConnectionsAreLoggedWithWhatTheTokenClaims() throws {
        let gateway = try TestGateway(operatorLog: log.operatorLog())
        let expired = TestToken.joining("lobby", as: "ann") { $0.expires = TestToken.now - 1_000 }
        var ask = HTTPAsk.upgrade(token: expired)
        ask.fields.append(("X-Request-ID", "try-1"))
        let answer = try #require(try ask.answer(port: gateway.port, from: "127.9.8.7"))
        #expect(answer.status == 401 && answer.fields["x-request-id"] == "try-1")
        let line = try #require(log.lines("refused").first)
        let expected = [
            "reason": "token_expired", "status": "401", "address": "127.9.8.7", "room": "lobby", "identity": "ann", "issuer": "tests",
            "request": "try-1", "route": "GET /v1/rtc",
        ]
        #expect(line.metadata.mapValues { "\($0)" } == expected)
    }

    @Test func anUnverifiedTokenIsNotQuotedBeyondItsNames() throws {
        let gateway = try TestGateway(operatorLog: log.operatorLog())
        let payload = #"{"iss":"nobody","sub":"mallory","video":{"room":"vault"},"metadata":"the-password","exp":1}"#
        for token in [TestToken.forged(payload: payload, secret: "wrong"), "a.b.c", String(repeating: "x", count: 20_000)] {
            _ = try HTTPAsk.upgrade(token: token).answer(port: gateway.port)
        }
        let lines = log.lines("refused")
        #expect(lines.first?["issuer"] == "nobody" && lines.first?["identity"] == "mallory" && lines.first?["room"] == "vault")
        #expect(!lines.contains { "\($0.metadata)".contains("the-password") })
    }

    @Test func refusedHTTPRequestsAreLoggedButOrdinaryErrorsAreNot() throws {
        let gateway = try TestGateway(operatorLog: log.operatorLog())
        _ = try gateway.get("/nowhere")
        #expect(try gateway.get("/v1/rooms")?.status == 401)
        let lines = log.lines("refused")
        #expect(lines.map { $0["route"] } == ["GET /v1/rooms"])
        #expect(lines.map { $0["reason"] } == ["missing_token"])
    }

    @Test func aFloodOfRefusalsIsCountedInsteadOfLogged() throws {
        let gateway = try TestGateway(operatorLog: log.operatorLog())
        let attempts = 60
        let began = ContinuousClock.now
        for _ in 0..<attempts { _ = try HTTPAsk.upgrade(token: "no token").answer(port: gateway.port, from: "127.9.8.6") }
        func counted() -> Int {
            log.lines("refusals were not logged one by one").compactMap { $0["count"].flatMap { Int($0) } }.reduce(0, +)
        }
        try Patience.until("every refusal is logged or counted") { log.lines("refused").count + counted() == attempts }
        let seconds = Int(began.duration(to: .now).components.seconds)
        #expect(log.lines("refused").count <= RefusalBudget.perAddressMax * (seconds + 2))
    }
}
