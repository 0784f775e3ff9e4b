import Foundation
import Testing
import Wire

/// Conversations on users' channels, calls to all their members, and the entries in their history about who talked.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ConversationNewsTests {
    private let backend: TestBackend
    private let (ann, bob, eve): (AppUser, AppUser, AppUser)
    private let id: String
    private let path: String

    init() throws {
        backend = try TestBackend()
        ann = try AppUser(backend, "ann@example.org", logs: false)
        bob = try AppUser(backend, "bob@example.org", logs: false)
        eve = try AppUser(backend, "eve@example.org", logs: false)
        let made = try ann.ask("POST", "/v1/conversations", ["name": "Garden"])
        guard made.status == 201, let id = made.json?["id"] as? String else { throw DidNotHappen(what: "a conversation: \(made.text)") }
        self.id = id
        path = "/v1/conversations/" + id
    }

    // MARK: Channels

    private func channel(of user: AppUser) throws -> RawWebSocket {
        let socket = try backend.gateway.webSocket(.upgrade(token: user.accessToken, path: "/v1/events"))
        #expect(try next(on: socket)?["type"] as? String == "hello")
        return socket
    }

    private func next(on socket: RawWebSocket) throws -> [String: Any]? {
        guard case .text(let text) = try socket.next() else { return nil }
        return try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
    }

    /// Returns the next message, which must be about the conversation, as `type number user text` without absent parts.
    private func event(on socket: RawWebSocket) throws -> [String] {
        let message = try next(on: socket)
        let data = message?["data"] as? [String: Any]
        #expect(message?["type"] as? String == "conversation.event" && data?["conversation"] as? String == id)
        let event = data?["event"] as? [String: Any]
        #expect(event?["timestamp"] is String)
        return [
            event?["type"] as? String, (event?["number"] as? Int).map(String.init), event?["user"] as? String, event?["text"] as? String,
        ]
        .compactMap { $0 }
    }

    private func expectNothing(on socket: RawWebSocket) throws {
        try socket.send(text: #"{"type":"ping","id":1,"data":{"t":7}}"#)
        #expect(try next(on: socket)?["type"] as? String == "reply", "nothing came before")
    }

    private func join(_ user: AppUser) throws {
        #expect(try ann.ask("POST", path + "/invite", ["user": user.id]).status == 204)
        #expect(try user.ask("POST", path + "/join").status == 200)
    }

    private func history() throws -> [[String]] {
        let answer = try ann.ask("GET", path + "/events?limit=200")
        let events = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [[String: Any]] ?? []
        return events.map { [$0["type"] as? String ?? "", $0["user"] as? String ?? ""] }
    }

    @Test func membersLearnOfEventsAtOnceAndOthersNothing() throws {
        let (anns, bobs, eves) = (try channel(of: ann), try channel(of: bob), try channel(of: eve))
        for _ in 1...2 { #expect(try ann.ask("POST", path + "/invite", ["user": bob.id]).status == 204) }
        #expect(try event(on: anns) == ["member:invited", "2", bob.id])
        #expect(try event(on: bobs) == ["member:invited", bob.id], "invited users do not learn how many events there are")
        #expect(try ann.ask("POST", path + "/events", ["text": "before"]).status == 201)
        #expect(try event(on: anns) == ["text", "3", ann.id, "before"])
        for _ in 1...2 { #expect(try bob.ask("POST", path + "/join").status == 200) }
        #expect(try event(on: anns) == ["member:joined", "4", bob.id])
        #expect(try event(on: bobs) == ["member:joined", "4", bob.id], "nothing of what was said before")
        #expect(try bob.ask("POST", path + "/events", ["text": "hello"]).status == 201)
        for socket in [anns, bobs] { #expect(try event(on: socket) == ["text", "5", bob.id, "hello"]) }
        #expect(try bob.ask("POST", path + "/leave").status == 204)
        #expect(try event(on: anns) == ["member:left", "6", bob.id])
        #expect(try event(on: bobs) == ["member:left", bob.id])
        #expect(try ann.ask("POST", path + "/events", ["text": "afterwards"]).status == 201)
        try expectNothing(on: bobs)
        try expectNothing(on: eves)
    }

    @Test func declinedInvitationIsToldToTheUsersOtherDevices() throws {
        #expect(try ann.ask("POST", path + "/invite", ["user": bob.id]).status == 204)
        let bobs = try channel(of: bob)
        #expect(try bob.ask("POST", path + "/leave").status == 204)
        #expect(try event(on: bobs) == ["member:left", bob.id])
        #expect(try ann.ask("POST", path + "/leave").status == 204, "the last member's leave deletes the conversation")
        try expectNothing(on: bobs)
    }

    @Test func allMembersAreCalledAndWhoTalksIsInTheHistory() throws {
        for user in [bob, eve] { try join(user) }
        let answer = try ann.ask("POST", "/v1/calls", ["conversation": id, "caller_name": "Ann"])
        #expect(answer.status == 201, "\(answer.text)")
        let call = try #require(answer.json?["call"] as? [String: Any])
        #expect(call["conversation"] as? String == id)
        #expect((call["members"] as? [[String: Any]])?.compactMap { $0["party"] as? String } == [ann.id, bob.id, eve.id])
        let calls = "/v1/calls/" + (call["id"] as? String ?? "")
        let before = try history()
        #expect(try bob.ask("POST", calls + "/answer").status == 200)
        try Patience.until("the beginning") { try history() == before + [["audio:started", ann.id], ["audio:started", bob.id]] }
        #expect(try eve.ask("POST", calls + "/reject", [String: String]()).status == 200)
        #expect(try bob.ask("POST", calls + "/hangup").status == 200)
        try Patience.until("the end") { try history().count == before.count + 4 }
        #expect(Set(try history().suffix(2)) == [["audio:ended", ann.id], ["audio:ended", bob.id]])
    }

    @Test func aRepeatedCallIsTheSameAlthoughMembersHaveComeAndGone() throws {
        try join(bob)
        func call() throws -> HTTPAnswer {
            try ann.ask("POST", "/v1/calls", ["conversation": id], with: [("Idempotency-Key", "k")])
        }
        let first = try call()
        #expect(first.status == 201, "\(first.text)")
        try join(eve)
        let again = try call()
        #expect((200...201).contains(again.status), "\(again.text)")
        #expect(again.json?["call_id"] as? String == first.json?["call_id"] as? String)
    }

    @Test func callThatNobodyAnswersIsNotInTheHistory() throws {
        try join(bob)
        let before = try history()
        let answer = try ann.ask("POST", "/v1/calls", ["conversation": id])
        #expect(try ann.ask("POST", "/v1/calls/\(answer.json?["call_id"] as? String ?? "")/cancel").status == 200)
        let past = try ann.ask("GET", "/v1/calls/history")
        #expect(try (JSONSerialization.jsonObject(with: Data(past.body)) as? [Any])?.count == 1)
        #expect(try history() == before)
    }

    @Test func onlyMembersCallAndOnlyThoseWhoAreReachableAreCalled() throws {
        #expect(try ann.ask("POST", "/v1/calls", ["conversation": id]).status == 404, "nobody else is in it")
        #expect(try ann.ask("POST", path + "/invite", ["user": bob.id]).status == 204)
        #expect(try ann.ask("POST", "/v1/calls", ["conversation": id]).status == 404, "who is only invited is not called")
        #expect(try bob.ask("POST", "/v1/calls", ["conversation": id]).status == 404)
        let (real, madeUp) = (
            try eve.ask("POST", "/v1/calls", ["conversation": id]),
            try eve.ask("POST", "/v1/calls", ["conversation": UUID().uuidString.lowercased()])
        )
        #expect(real.status == 404 && real.text == madeUp.text)
        #expect(try bob.ask("POST", path + "/join").status == 200)
        try join(eve)
        #expect(try bob.ask("PATCH", "/v1/users/me", ["settings": ["reachable_by": "nobody"]]).status == 200)
        let call = try ann.ask("POST", "/v1/calls", ["conversation": id]).json?["call"] as? [String: Any]
        #expect((call?["members"] as? [[String: Any]])?.compactMap { $0["party"] as? String } == [ann.id, eve.id])
    }

    @Test(arguments: [
        #"{"conversation":"\#(UUID().uuidString.lowercased())","to":["assistant:x"]}"#, #"{"conversation":7}"#, #"{"conversation":"<b>"}"#,
        #"{}"#, #"{"to":[]}"#,
    ])
    func malformedCallsAreRefused(body: String) throws {
        let json = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        #expect(try ann.ask("POST", "/v1/calls", json).status == 400)
    }

    @Test func conversationIsCalledOnTheChannel() throws {
        try join(bob)
        let (anns, bobs) = (try channel(of: ann), try channel(of: bob))
        try anns.send(text: #"{"type":"call.start","id":1,"data":{"conversation":"\#(id)"}}"#)
        let reply = try next(on: anns)
        #expect(reply?["type"] as? String == "reply", "\(reply ?? [:])")
        let incoming = try next(on: bobs)
        #expect(incoming?["type"] as? String == "call.incoming")
        #expect(((incoming?["data"] as? [String: Any])?["call"] as? [String: Any])?["conversation"] as? String == id)
        try bobs.send(text: #"{"type":"call.start","id":1,"data":{"conversation":"\#(id)","to":["\#(ann.id)"]}}"#)
        var refusal = try next(on: bobs)
        while refusal?["type"] as? String != "error" { refusal = try next(on: bobs) }
        #expect((refusal?["data"] as? [String: Any])?["code"] as? String == "invalid_argument")
    }
}
