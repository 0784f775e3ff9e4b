import Foundation
import Gateway
import Testing

/// `/v1/conversations`.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ConversationRouteTests {
    private let (ann, bob, eve): (AppUser, AppUser, AppUser)
    private let path: String

    init() throws {
        let backend = try TestBackend()
        ann = try AppUser(backend, "ann@example.org", logs: false)
        bob = try AppUser(backend, "bob@example.org", logs: false)
        eve = try AppUser(backend, "eve@example.org", logs: false)
        let made = try ann.ask("POST", "/v1/conversations", ["name": "Garden"])
        guard made.status == 201, let id = made.json?["id"] as? String else { throw DidNotHappen(what: "a conversation: \(made.text)") }
        path = "/v1/conversations/" + id
    }

    private func list(_ answer: HTTPAnswer) throws -> [[String: Any]] {
        try JSONSerialization.jsonObject(with: Data(answer.body)) as? [[String: Any]] ?? []
    }

    @Test func invitedUserJoinsReadsAndLeaves() throws {
        #expect(try ann.ask("POST", path + "/invite", ["user": bob.id]).status == 204)
        let invitation = try list(bob.ask("GET", "/v1/conversations")).first
        #expect(invitation?["state"] as? String == "invited" && invitation?["invited_by"] as? String == ann.id)
        #expect(invitation?["member_count"] as? Int == 2 && invitation?["last_event"] == nil)
        #expect(try bob.ask("GET", path + "/members").status == 404, "ids are shown to those who have joined")
        #expect(try bob.ask("POST", path + "/join").json?["state"] as? String == "joined")
        let said = try bob.ask("POST", path + "/events", ["text": "hello"])
        #expect(said.status == 201 && said.json?["number"] as? Int == 4)
        let events = try list(ann.ask("GET", path + "/events?after=1"))
        #expect(events.compactMap { $0["type"] as? String } == ["member:invited", "member:joined", "text"])
        #expect(events.last?["text"] as? String == "hello" && events.last?["user"] as? String == bob.id)
        #expect(try list(ann.ask("GET", path + "/members")).compactMap { $0["user"] as? String } == [ann.id, bob.id])
        let exported = try bob.ask("GET", "/v1/me/export").json
        #expect((exported?["texts"] as? [[String: Any]])?.first?["text"] as? String == "hello")
        #expect(try bob.ask("POST", path + "/leave").status == 204)
        #expect(try bob.ask("GET", path).status == 404)
    }

    @Test func everyRouteIsForMembersOnly() throws {
        let madeUp = "/v1/conversations/" + UUID().uuidString.lowercased()
        let routes: [(String, String, [String: String]?)] = [
            ("GET", "", nil), ("POST", "/invite", ["user": bob.id]), ("POST", "/join", nil), ("POST", "/leave", nil),
            ("GET", "/members", nil), ("GET", "/events", nil), ("POST", "/events", ["text": "psst"]),
        ]
        for (method, rest, body) in routes {
            let (real, unknown) = (try eve.ask(method, path + rest, body), try eve.ask(method, madeUp + rest, body))
            #expect(real.status == 404 && real.text == unknown.text, "\(method) \(rest): \(real.text)")
        }
        #expect(try list(eve.ask("GET", "/v1/conversations")).isEmpty)
    }

    @Test func invitationsRespectWhoIsReachable() throws {
        let (unreachable, unknown) = (
            try ann.ask("POST", path + "/invite", ["user": "bob@example.org"]),
            try ann.ask("POST", path + "/invite", ["user": "nobody@example.org"])
        )
        #expect(unreachable.status == 404 && unreachable.text == unknown.text)
        #expect(try bob.ask("PUT", "/v1/contacts", ["contacts": [["address": ann.email]]]).status == 204)
        #expect(try ann.ask("POST", path + "/invite", ["user": "bob@example.org"]).status == 204)
    }

    /// Asks for a conversation that does not exist, which is quick, until the answer is not 404.
    private func askTooOften(_ user: AppUser, _ route: String, _ body: [String: String]) throws -> (count: Int, refusal: HTTPAnswer?) {
        let madeUp = "/v1/conversations/" + UUID().uuidString.lowercased()
        for count in 0..<500 {
            let answer = try user.ask("POST", madeUp + route, body)
            if answer.status != 404 { return (count, answer) }
        }
        return (500, nil)
    }

    @Test(arguments: [("/events", ["text": "again"], 50, "too_many_events"), ("/invite", ["user": "@bob"], 60, "too_many_invitations")])
    func textsAndInvitationsOfAUserAreLimitedByRate(route: String, body: [String: String], burst: Int, code: String) throws {
        let (count, refusal) = try askTooOften(eve, route, body)
        #expect(count >= burst)
        #expect(refusal?.status == 429 && refusal?.code == code && refusal?.fields["retry-after"] == "1")
        #expect(try ann.ask("POST", path + "/invite", ["user": bob.id]).status == 204, "others are not limited")
        #expect(try ann.ask("POST", path + "/events", ["text": "hello"]).status == 201)
    }

    @Test func invitationsCannotTryManyAddressesToFindAccounts() throws {
        for number in 0..<20 { #expect(try ann.ask("POST", path + "/invite", ["user": "@nobody-\(number)"]).status == 404) }
        let refused = try ann.ask("POST", path + "/invite", ["user": bob.id])
        #expect(refused.status == 429 && refused.code == "too_many_attempts", "existing users are refused, too")
    }

    @Test func wrongInvitationsAndWrongCalleesCountTogether() throws {
        for number in 0..<10 {
            #expect(try ann.ask("POST", path + "/invite", ["user": "@nobody-\(number)"]).status == 404)
            #expect(try ann.ask("POST", "/v1/calls", ["to": ["@nobody-\(number)"]]).status == 404)
        }
        #expect(try ann.ask("POST", path + "/invite", ["user": bob.id]).code == "too_many_attempts")
        #expect(try ann.ask("POST", "/v1/calls", ["to": [bob.id]]).status == 429)
        #expect(try eve.ask("POST", "/v1/calls", ["to": [bob.id]]).status == 201, "others are not limited")
    }

    /// Each way, and both at the same time.
    @Test func wrongAddressesTriedAtOnceAreLimitedLikeOthers() async throws {
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<60 {
                let isCall = number.isMultiple(of: 2)
                group.addTask { [ann, path] in
                    try await OwnThread.run {
                        isCall
                            ? try ann.ask("POST", "/v1/calls", ["to": ["@nobody-\(number)"]]).status
                            : try ann.ask("POST", path + "/invite", ["user": "@nobody-\(number)"]).status
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 404 } == 20 && statuses.count { $0 == 429 } == 40, "\(statuses)")
    }

    @Test func unansweredInvitationsToOneUserAreLimited() throws {
        for _ in 0..<10 { #expect(try ann.ask("POST", newConversation() + "/invite", ["user": bob.id]).status == 204) }
        let refused = try ann.ask("POST", newConversation() + "/invite", ["user": bob.id])
        #expect(refused.status == 429 && refused.code == "too_many_invitations")
        #expect(try ann.ask("POST", newConversation() + "/invite", ["user": eve.id]).status == 204)
        let invited = try #require(try list(bob.ask("GET", "/v1/conversations")).first?["id"] as? String)
        #expect(try bob.ask("POST", "/v1/conversations/\(invited)/leave").status == 204)
        #expect(try ann.ask("POST", newConversation() + "/invite", ["user": bob.id]).status == 204)
    }

    private func newConversation() throws -> String {
        "/v1/conversations/" + (try #require(try ann.ask("POST", "/v1/conversations", ["name": "Garden"]).json?["id"] as? String))
    }

    @Test func eventsArePagedByTheirNumber() throws {
        for word in ["one", "two", "three"] { #expect(try ann.ask("POST", path + "/events", ["text": word]).status == 201) }
        var (words, next): ([String], String?) = ([], path + "/events?limit=2")
        while let page = next {
            let answer = try ann.ask("GET", page)
            words += try list(answer).compactMap { $0["text"] as? String }
            next = try answer.fields["link"].map { String(try #require($0.wholeMatch(of: /<([^>]*)>; rel="next"/)).1) }
        }
        #expect(words == ["one", "two", "three"])
        for after in ["-1", "1e3", "5.0", "x"] { #expect(try ann.ask("GET", path + "/events?after=\(after)").status == 400, "\(after)") }
        #expect(try ann.ask("POST", path + "/events", ["text": String(repeating: "é", count: 4_000)]).status == 400)
    }
}
