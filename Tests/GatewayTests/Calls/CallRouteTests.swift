import Backend
import Engine
import Foundation
import Gateway
import HTTPServer
import HTTPTypes
import Store
import Testing
import Wire

/// Calls by HTTP: conformance to the OpenAPI document, and isolation between users.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct CallRouteTests {
    private static let verbs = ["answer", "join", "cancel", "hangup", "hold", "resume", "reject", "mute", "invite"]

    private func body(of verb: String, _ party: CallParty) -> String? {
        ["reject": "{}", "mute": #"{"muted":true}"#, "invite": #"{"to":["\#(party)"]}"#][verb]
    }

    @Test func callIsStartedAndAnsweredByHTTP() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let device = try bob.device()
        let made = try ann.http("POST", "/v1/calls", #"{"to":["\#(bob.party)"],"caller_name":"Ann"}"#)
        #expect(made.status == 201)
        try hold(made, node, "POST", "/v1/calls")
        let id = try #require(made.json?["call_id"] as? String)
        #expect(made.json?["room_name"] as? String == "call-" + id)
        #expect(made.json?["status"] as? String == "ringing")
        #expect(try device.event(.incoming).call.callerName == "Ann")
        let listed = try ann.http("GET", "/v1/calls")
        try hold(listed, node, "GET", "/v1/calls")
        #expect(listed.text.contains(id))
        for (user, verb, status) in [
            (bob, "hold", 409), (bob, "answer", 200), (ann, "join", 200), (bob, "hold", 200), (bob, "resume", 200), (ann, "mute", 200),
            (bob, "answer", 409), (ann, "cancel", 409), (bob, "cancel", 403), (ann, "hangup", 200), (ann, "hangup", 409),
        ] {
            let answer = try user.http("POST", "/v1/calls/\(id)/\(verb)", body(of: verb, ann.party))
            #expect(answer.status == status, "\(verb): \(answer.text)")
            try hold(answer, node, "POST", "/v1/calls/{id}/\(verb)")
        }
        let over = try bob.http("GET", "/v1/calls/\(id)")
        try hold(over, node, "GET", "/v1/calls/{id}")
        #expect((over.json?["call"] as? [String: Any])?["status"] as? String == "completed")
        #expect(try ann.http("GET", "/v1/calls").text == "[]")
    }

    @Test func repeatedIdempotencyKeyReturnsTheSameCall() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let body = #"{"to":["\#(bob.party)"]}"#
        let first = try ann.http("POST", "/v1/calls", body, key: "k1")
        let second = try ann.http("POST", "/v1/calls", body, key: "k1")
        #expect(first.json?["call_id"] as? String == second.json?["call_id"] as? String)
        let other = try ann.http("POST", "/v1/calls", #"{"to":["assistant:x"]}"#, key: "k1")
        #expect(other.status == 422 && other.code == "idempotency_key_reused")
        try hold(other, node, "POST", "/v1/calls")
    }

    @Test func userCannotTryManyAddressesToFindAccounts() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let device = try ann.device()
        for number in 0..<20 {
            let stranger = try #require(CallParty(text: "@nobody-\(number)"))
            #expect(try device.refusal(of: .start(CallStart(to: [stranger])))?.error.code == .notFound)
        }
        let refusal = try device.refusal(of: .start(CallStart(to: [bob.party])))
        #expect(refusal?.error.code == .limitExceeded && refusal?.error.retryable == true, "existing users are refused, too")
        let answer = try ann.http("POST", "/v1/calls", #"{"to":["\#(bob.party)"]}"#)
        #expect(answer.status == 429)
        try hold(answer, node, "POST", "/v1/calls")
        #expect(try bob.device().start(ann.party).call?.status == .ringing, "others are not limited")
    }

    /// Many parties in one request count as many.
    @Test func strangersOfOneRequestCountEach() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let strangers = (0..<20).map { #""@nobody-\#($0)""# }.joined(separator: ",")
        #expect(try ann.http("POST", "/v1/calls", #"{"to":[\#(strangers)]}"#).status == 404)
        #expect(try ann.http("POST", "/v1/calls", #"{"to":["\#(bob.party)"]}"#).status == 429)
    }

    @Test func callOfAnUnknownUserIsNotFoundAtOnce() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let nobody = UserID().text
        for to in [[nobody], [bob.id.text, nobody], ["bob"], [bob.id.text.uppercased()]] {
            let list = to.map { "\"\($0)\"" }.joined(separator: ",")
            let answer = try ann.http("POST", "/v1/calls", #"{"to":[\#(list)]}"#)
            #expect(answer.status == 404 && answer.code == "not_found", "\(to): \(answer.text)")
        }
        let call = try #require(try ann.http("POST", "/v1/calls", #"{"to":["\#(bob.id)"]}"#).json?["call_id"] as? String)
        #expect(try ann.http("POST", "/v1/calls/\(call)/invite", #"{"to":["\#(nobody)"]}"#).status == 404)
        try await node.backend.store.accounts.deleteUser(bob.id)
        #expect(try ann.http("POST", "/v1/calls/\(call)/cancel").status == 200)
        #expect(try ann.http("POST", "/v1/calls", #"{"to":["\#(bob.id)"]}"#).status == 404, "a deleted user is unknown")
    }

    @Test func usersWhoCallEachOtherAreConnected() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let first = try ann.http("POST", "/v1/calls", #"{"to":["\#(bob.id)"]}"#)
        let second = try bob.http("POST", "/v1/calls", #"{"to":["\#(ann.id)"]}"#, key: "k")
        #expect(second.status == 201 && second.json?["status"] as? String == "answered")
        #expect(first.json?["call_id"] as? String == second.json?["call_id"] as? String)
        try hold(second, node, "POST", "/v1/calls")
        let tokens = [first, second].compactMap { $0.json?["livekit_token"] as? String }
        let callers = try tokens.map { try Caller(on: node.gateway.webSocket(.upgrade(token: $0)), goingOnAfter: 0) }
        #expect(callers.count == 2 && callers[0].hello.room.name == callers[1].hello.room.name)
        #expect(
            try bob.http("POST", "/v1/calls", #"{"to":["\#(ann.id)"]}"#, key: "k").json?["call_id"] as? String == first.json?["call_id"]
                as? String)
    }

    @Test func anotherUsersCallIsNotFound() async throws {
        let node = try CallTestGateway()
        let (ann, bob, eve) = (try await node.user("ann"), try await node.user("bob"), try await node.user("eve"))
        let id = try #require(try ann.http("POST", "/v1/calls", #"{"to":["\#(bob.party)"]}"#).json?["call_id"] as? String)
        #expect(try eve.http("GET", "/v1/calls").text == "[]")
        let (real, madeUp) = (try eve.http("GET", "/v1/calls/\(id)"), try eve.http("GET", "/v1/calls/CA_none"))
        #expect(real.status == 404)
        #expect(real.text == madeUp.text)
        for verb in Self.verbs {
            // The last is not a valid ID.
            let answers = try [id, "CA_none", "%27%20OR%201=1--", "a%2Fb%2Fetc"].map {
                try eve.http("POST", "/v1/calls/\($0)/\(verb)", body(of: verb, eve.party))
            }
            #expect(Set(answers.map(\.status)) == [404], "\(verb)")
            #expect(Set(answers.dropLast().map(\.text)).count == 1)
        }
    }

    @Test(arguments: [
        "{}", #"{"to":[]}"#, #"{"to":[""]}"#, #"{"to":"bob"}"#, #"{"to":[7]}"#, #"{"to":["a","a"]}"#, #"{"to":["a"],"extra":1}"#,
        #"{"to":["a"],"metadata":7}"#, #"{"to":["a"],"idempotency_key":"k"}"#, "[", "null",
    ])
    func invalidCallIsRefused(body: String) async throws {
        let node = try CallTestGateway()
        let answer = try await node.user("ann").http("POST", "/v1/calls", body)
        #expect(answer.status == 400, "\(answer.text)")
        try hold(answer, node, "POST", "/v1/calls")
    }

    @Test func callRoutesRequireAToken() async throws {
        let node = try CallTestGateway()
        let paths = ["/v1/calls", "/v1/calls/x"].map { ("GET", $0) } + Self.verbs.map { ("POST", "/v1/calls/x/\($0)") }
        for (method, path) in paths {
            let answer = try #require(try HTTPConnection(node.gateway).answer(to: HTTPAsk(method: method, path: path)))
            #expect(answer.status == 401)
        }
    }

    /// Checks a response's status and body against the route's declaration.
    private func hold(_ answer: HTTPAnswer, _ node: CallTestGateway, _ method: String, _ path: String) throws {
        let route = try #require(
            node.gateway.gateway.routes.first { $0.method.rawValue == method && $0.path.inOpenAPI == path }, "\(method) \(path)")
        let outcome = try #require(
            route.outcomes.first { $0.status.code == answer.status }, "\(method) \(path) never says \(answer.status)")
        let schema = try #require(outcome.schema)
        #expect(schema.fault(in: try JSONValue(parsing: answer.body)) == nil, "\(answer.text)")
    }
}
