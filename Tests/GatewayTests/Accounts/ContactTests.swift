import Foundation
import Gateway
import Testing

/// Contacts, calls by address, and the history of calls, over HTTPS.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ContactTests {
    private let backend: TestBackend
    private let (ann, bob): (AppUser, AppUser)

    init() throws {
        backend = try TestBackend()
        ann = try AppUser(backend, "ann@example.org", logs: false)
        bob = try AppUser(backend, "bob@example.org", logs: false)
    }

    private func set(_ user: AppUser, _ settings: [String: Any]) throws -> HTTPAnswer {
        try user.ask("PATCH", "/v1/users/me", ["settings": settings])
    }

    private func call(_ address: String) throws -> HTTPAnswer { try ann.ask("POST", "/v1/calls", ["to": [address]]) }

    private func history(_ user: AppUser, _ query: String = "") throws -> [[String: Any]] {
        let answer = try user.ask("GET", "/v1/calls/history" + query)
        return try JSONSerialization.jsonObject(with: Data(answer.body)) as? [[String: Any]] ?? []
    }

    @Test func contactIsCalledByAddress() throws {
        #expect(try bob.ask("PUT", "/v1/contacts", ["contacts": [["address": "ann@example.org", "name": "Ann"]]]).status == 204)
        let answer = try call("Bob@example.org")
        #expect(answer.status == 201)
        let members = (answer.json?["call"] as? [String: Any])?["members"] as? [[String: Any]]
        #expect(members?.compactMap { $0["party"] as? String } == [ann.id, bob.id])
    }

    @Test func pastCallIsInTheHistoryAtOnce() throws {
        for count in 1...5 {
            let started = try call(bob.id)
            #expect(try ann.ask("POST", "/v1/calls/\(started.json?["call_id"] as? String ?? "")/cancel").status == 200)
            #expect(try history(bob).count == count)
        }
    }

    @Test func callThatGoesOnWithoutTheUserIsInTheHistoryAtOnce() throws {
        let eve = try AppUser(backend, "eve@example.org", logs: false)
        for count in 1...5 {
            let started = try ann.ask("POST", "/v1/calls", ["to": [bob.id, eve.id]])
            let path = "/v1/calls/\(started.json?["call_id"] as? String ?? "")"
            #expect(try bob.ask("POST", path + "/reject", [:]).status == 200)
            #expect(try history(bob).count == count && history(eve).count == count - 1)
            #expect(try ann.ask("POST", path + "/cancel").status == 200)
        }
    }

    @Test func handleIsCalledInAnyCase() throws {
        #expect(try set(bob, ["handle": "Bob.7", "reachable_by": "anyone"]).status == 200)
        #expect(try call("@bob.7").status == 201)
        let taken = try set(ann, ["handle": "bob.7"])
        #expect(taken.status == 409 && taken.code == "handle_taken")
    }

    @Test func whoIsNotReachableIsAsUnknownAsWhoDoesNotExist() throws {
        let asked = [("bob@example.org", "nobody@example.org"), ("@bob", "@nobody"), (bob.id, UUID().uuidString.lowercased())]
        #expect(try set(bob, ["handle": "bob", "reachable_by": "nobody"]).status == 200)
        for (real, madeUp) in asked {
            let (unreachable, unknown) = (try call(real), try call(madeUp))
            #expect(unreachable.status == 404 && unknown.status == 404)
            #expect(unreachable.text.replacing(real, with: madeUp) == unknown.text)
        }
    }

    @Test func addressesAreForContactsOnlyByDefault() throws {
        #expect(try call("bob@example.org").status == 404)
        #expect(try call(bob.id).status == 201, "whoever was given the id may use it")
    }

    @Test func takenHandlesCannotBeFoundByTrying() throws {
        #expect(try set(bob, ["handle": "bob"]).status == 200)
        for _ in 0..<20 { #expect(try set(ann, ["handle": "bob"]).status == 409) }
        #expect(try set(ann, ["handle": "carol"]).status == 429)
        #expect(try set(ann, ["voice": "alto"]).status == 200)
    }

    @Test func favouritesAreKept() throws {
        let contacts: [[String: Any]] = [["address": "@bob", "name": "Bob", "favorite": true], ["address": "eve@example.org"]]
        #expect(try ann.ask("PUT", "/v1/contacts", ["contacts": contacts]).status == 204)
        let stored = try JSONSerialization.jsonObject(with: Data(try ann.ask("GET", "/v1/contacts").body)) as? [[String: Any]]
        #expect(stored?.map { $0["favorite"] as? Bool } == [true, nil])
        #expect(try ann.ask("PUT", "/v1/contacts", ["contacts": [["address": "@bob", "favorite": "yes"]]]).status == 400)
    }

    @Test func contactsArePagedAndChecked() throws {
        let contacts = (0..<3).map { ["address": "friend\($0)@example.org"] }
        #expect(try ann.ask("PUT", "/v1/contacts", ["contacts": contacts]).status == 204)
        let first = try ann.ask("GET", "/v1/contacts?limit=2")
        let next = try #require(first.fields["link"]?.firstMatch(of: /<([^>]*)>/)).1
        let rest = try ann.ask("GET", String(next))
        #expect(first.text.contains("friend1") && rest.text == #"[{"address":"friend2@example.org"}]"# && rest.fields["link"] == nil)
        let invalid = try ann.ask("PUT", "/v1/contacts", ["contacts": [["address": "not an address"]]])
        #expect(invalid.status == 400 && invalid.code == "invalid_value")
        #expect(try ann.ask("GET", "/v1/contacts?cursor=x").status == 400)
        #expect(try bob.ask("GET", "/v1/contacts").text == "[]")
    }

    @Test func pastCallIsInTheHistoryOfItsMembersOnly() throws {
        let eve = try AppUser(backend, "eve@example.org", logs: false)
        let missed = try #require(try call(bob.id).json?["call_id"] as? String)
        #expect(try ann.ask("POST", "/v1/calls/\(missed)/cancel").status == 200)
        let answered = try #require(try call(bob.id).json?["call_id"] as? String)
        #expect(try bob.ask("POST", "/v1/calls/\(answered)/answer").status == 200)
        #expect(try bob.ask("POST", "/v1/calls/\(answered)/hangup").status == 200)
        try Patience.until("both calls are stored") { try history(bob).count == 2 }
        try Patience.until("for the caller, too") { try history(ann).count == 2 }
        for user in [ann, bob] {
            let calls = try history(user)
            #expect(calls.compactMap { $0["id"] as? String } == [answered, missed])
            #expect(calls.compactMap { $0["status"] as? String } == ["completed", "cancelled"])
            #expect(calls[0]["answered_at"] is String && calls[1]["answered_at"] == nil)
        }
        #expect(try history(eve).isEmpty)
        #expect(try history(bob, "?limit=1").count == 1)
        let exported = try bob.ask("GET", "/v1/me/export").json?["calls"] as? [[String: Any]]
        #expect(exported?.count == 2)
    }
}
