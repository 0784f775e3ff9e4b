import Engine
import Foundation
import Gateway
import HTTPServer
import HTTPTypes
import Identity
import Testing
import Wire

@testable import Backend

/// `GET /v1/rtc/validate` answers like the upgrade.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ValidationTests {
    private static let path = "/v1/rtc/validate"

    private static func token(_ identity: String = "eve", room: String = "r", _ change: (inout AccessToken) -> Void = { _ in }) -> HTTPAsk {
        .upgrade(token: TestToken.joining(room, as: identity, change))
    }

    /// The question about an upgrade: its token where it is, and the subprotocols that it offers.
    private static func question(about upgrade: HTTPAsk) -> HTTPAsk {
        var ask = upgrade
        ask.path = path + upgrade.path.dropFirst("/v1/rtc".count)
        ask.fields.removeAll { ["Connection", "Upgrade", "Sec-WebSocket-Version", "Sec-WebSocket-Key"].contains($0.name) }
        return ask
    }

    private func answer(_ ask: HTTPAsk, _ gateway: TestGateway, from source: String = Loopback.fresh()) throws -> HTTPAnswer {
        try #require(try ask.answer(port: gateway.port, from: source))
    }

    /// Asks both, and expects the same refusal.
    private func expectRefusal(
        _ status: Int, _ code: String, of upgrade: HTTPAsk, by gateway: TestGateway, from source: String = Loopback.fresh()
    ) throws {
        let refused = try answer(upgrade, gateway, from: source)
        let refusedJoins = try gateway.value(.joinRefused(code))
        let told = try answer(Self.question(about: upgrade), gateway, from: source)
        #expect(refused.status == status && refused.code == code, "\(refused.status) \(refused.text)")
        #expect(told.status == refused.status && told.text == refused.text, "\(told.status) \(told.text)")
        for name in ["content-type", "x-patchbay-error", "retry-after"] { #expect(told.fields[name] == refused.fields[name], "\(name)") }
        #expect(try gateway.value(.joinRefused(code)) == refusedJoins)
        #expect(!told.text.contains("eyJ"), "nothing of a token comes back")
    }

    // MARK: Refusals

    private static let ofPlace = BadHandshake.ofPlace.filter { bad in
        bad.code != "not_found" && bad.ask.fields.contains { $0.name == "Sec-WebSocket-Protocol" }
    }

    @Test(arguments: BadHandshake.ofToken + ofPlace) func badTokenIsRefusedLikeItsUpgrade(_ bad: BadHandshake) throws {
        try expectRefusal(bad.status, bad.code, of: bad.ask, by: TestGateway())
    }

    @Test func unlistedOriginIsRefused() throws {
        let gateway = try TestGateway { $0.edge.allowedOrigins = ["https://app.example"] }
        var ask = Self.token()
        ask.fields.append(("Origin", "https://evil.example"))
        try expectRefusal(403, "origin_not_allowed", of: ask, by: gateway)
    }

    @Test func drainingGatewayRefuses() throws {
        let gateway = try TestGateway { $0.drainTimeout = .seconds(60) }
        let ann = try Caller(gateway, room: "r", identity: "ann")
        gateway.gateway.drain()
        _ = try ann.event("draining") { if case .serverDraining(let deadline) = $0 { deadline } else { nil } }
        // Shards learn of the drain one after the other.
        try Patience.until("all shards drain") {
            try (0..<8).allSatisfy { _ in try answer(Self.question(about: Self.token()), gateway).status == 503 }
        }
        try expectRefusal(503, "draining", of: Self.token(), by: gateway)
    }

    @Test func fullRoomRefusesOthers() throws {
        let gateway = try TestGateway {
            $0.room.maxParticipants = 1
            $0.room.resumeWindow = .seconds(20)
        }
        let first = try Caller(gateway, room: "r", identity: "first")
        try first.settle()
        for _ in 0..<4 { try expectRefusal(409, "room_full", of: Self.token("second"), by: gateway) }
        // The same identity would replace its connection.
        #expect(try answer(Self.question(about: Self.token("first")), gateway).status == 200)
        try first.settle()
    }

    @Test func missingRoomIsNotMade() throws {
        let gateway = try TestGateway { $0.createsRooms = false }
        try expectRefusal(404, "room_not_found", of: Self.token(), by: gateway)
        #expect(try answer(Self.question(about: Self.token { $0.video?.roomCreate = true }), gateway).status == 200)
        try expectRefusal(404, "room_not_found", of: Self.token(), by: gateway)
    }

    @Test(arguments: [ErrorCode.sessionEnded, .callEnded]) func servicesRefuseBoth(code: ErrorCode) throws {
        let queue = AuditEventQueue(joinError: { room, _ in room == "over" ? HTTPError(code, "it is over") : nil })
        let gateway = try TestGateway(auditEvents: queue)
        try expectRefusal(403, code.rawValue, of: Self.token(room: "over"), by: gateway)
        #expect(try answer(Self.question(about: Self.token()), gateway).status == 200)
    }

    @Test func endedJobIsRefused() throws {
        let dispatch = DispatchInbox()
        let gateway = try TestGateway(dispatch: dispatch, serving: { _, _ in [] })
        let job = JobInfo(id: JobID(text: "JB_1"), room: "r", assistant: "helper", reason: .request, status: .succeeded, attempt: 1)
        dispatch.registry.note(job, at: 0)
        let agent = Self.token("assistant:helper") {
            $0.kind = .agent
            $0.attributes = [DispatchRegistry.attribute: DispatchRegistry.attributeValue(of: job)]
        }
        try expectRefusal(403, "job_ended", of: agent, by: gateway)
    }

    @Test func failuresCountTogetherWithThoseOfUpgrades() throws {
        let gateway = try TestGateway()
        let source = Loopback.fresh()
        let bad = HTTPAsk.upgrade(token: "guess")
        for _ in 0..<10 {
            #expect(try answer(bad, gateway, from: source).status == 401)
            #expect(try answer(Self.question(about: bad), gateway, from: source).status == 401)
        }
        try expectRefusal(429, "too_many_attempts", of: bad, by: gateway, from: source)
        // No token is no guess, and a valid one is admitted.
        try expectRefusal(401, "missing_token", of: .upgrade(), by: gateway, from: source)
        #expect(try answer(Self.question(about: Self.token()), gateway, from: source).status == 200)
    }

    // MARK: Admitted tokens

    @Test(arguments: [
        HTTPAsk.upgrade(token: TestToken.joining("r", as: "eve")),
        .upgrade("/v1/rtc?access_token=" + TestToken.joining("r", as: "eve")),
        .upgrade(subprotocol: "patchbay.v1, patchbay.bearer." + TestToken.joining("r", as: "eve")),
    ]) func validTokenIsConfirmedWherever(_ upgrade: HTTPAsk) throws {
        let answer = try answer(Self.question(about: upgrade), TestGateway())
        #expect(answer.status == 200 && answer.json as? [String: String] == ["room": "r", "identity": "eve"])
        #expect(answer.fields["cache-control"] == "no-store")
    }

    @Test func subprotocolNeedNotBeOffered() throws {
        var ask = Self.question(about: Self.token())
        ask.fields.removeAll { $0.name == "Sec-WebSocket-Protocol" }
        #expect(try answer(ask, TestGateway()).status == 200)
    }

    @Test func nobodyJoins() throws {
        let gateway = try TestGateway()
        for _ in 0..<4 { #expect(try answer(Self.question(about: Self.token()), gateway).status == 200) }
        #expect(try gateway.value(.joins) == 0)
        #expect(try gateway.value(.rooms) == 0)
    }

    // MARK: From web pages

    @Test(arguments: [
        (["https://app.example"], false, true), (["*"], false, true), ([], true, true), ([], false, false),
        (["https://other.example"], false, false),
    ]) func pagesThatMayConnectMayAsk(origins: [String], admitsAny: Bool, isAdmitted: Bool) throws {
        let gateway = try TestGateway {
            $0.edge.allowedOrigins = origins
            $0.edge.admitsAnyOrigin = admitsAny
        }
        let origin = (name: "Origin", value: "https://app.example")
        for ask in [Self.question(about: Self.token()), Self.question(about: .upgrade(token: "guess"))] {
            var ask = ask
            ask.fields.append(origin)
            let answer = try answer(ask, gateway)
            #expect(answer.fields["access-control-allow-origin"] == (isAdmitted ? "https://app.example" : nil))
            #expect(answer.fields["access-control-expose-headers"]?.contains("X-Patchbay-Error") == (isAdmitted ? true : nil))
            #expect((answer.code == "origin_not_allowed") == !isAdmitted)
        }
        let preflight = HTTPAsk(
            method: "OPTIONS", path: Self.path,
            fields: [origin, ("Access-Control-Request-Method", "GET"), ("Access-Control-Request-Headers", "authorization")])
        let answer = try answer(preflight, gateway)
        #expect(answer.status == 204)
        #expect(answer.fields["access-control-allow-origin"] == (isAdmitted ? "https://app.example" : nil))
        #expect(answer.fields["access-control-allow-methods"] == (isAdmitted ? "GET, HEAD, OPTIONS" : nil))
        #expect(answer.fields["access-control-allow-headers"]?.contains("Authorization") == (isAdmitted ? true : nil))
    }
}
