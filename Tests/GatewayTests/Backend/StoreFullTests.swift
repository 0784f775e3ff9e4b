import Backend
import Engine
import Foundation
import Gateway
import Identity
import TestStore
import Testing
import Wire

/// A full store: calls continue, acknowledged data is kept, and writes succeed again once there is room.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)), .enabled(if: StorePlace.isOnSQLite, "about the size of SQLite's file"))
struct StoreFullTests {
    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        backend = try TestBackend(storeBytesMax: 500_000) { $0.room.resumeWindow = .seconds(20) }
        ann = try AppUser(backend)
    }

    /// Repeats a request until the store is full.
    ///
    /// - Returns: the responses before that.
    private func fill(_ ask: (Int) throws -> HTTPAnswer) throws -> [HTTPAnswer] {
        var answers: [HTTPAnswer] = []
        while answers.count < 1_000 {
            let answer = try ask(answers.count)
            guard answer.status != 507 else {
                #expect(answer.code == "store_full")
                return answers
            }
            #expect(200...201 ~= answer.status, "\(answer.text)")
            answers.append(answer)
        }
        throw DidNotHappen(what: "507 after a thousand answers")
    }

    /// Adds turns until not even a short one fits.
    ///
    /// - Returns: the texts that were stored.
    private func fill(_ session: String) throws -> [String] {
        var texts: [String] = []
        for length in [30_000, 3_000, 300, 30] {
            let text = { (number: Int) in "\(length) \(number) " + String(repeating: "x", count: length) }
            texts += try fill { try ann.say(text($0), in: session) }.indices.map(text)
        }
        return texts
    }

    @Test func writesFailWith507AndAcknowledgedDataIsKept() throws {
        let full = try ann.start().session
        let texts = try fill(full)
        let started = try fill { _ in try ann.ask("POST", "/v1/sessions/start", ["context": "phone"]) }
            .compactMap { $0.json?["session_id"] as? String }
        let registered = try fill { number in
            try ann.ask("POST", "/v1/auth/register", ["email": "\(number)@example.org", "password": AppUser.password])
        }
        #expect(try ann.words(of: full).sorted() == texts.sorted())
        let listed = Set(try ann.sessions("/v1/sessions?limit=200").compactMap { $0["id"] as? String })
        #expect(listed == Set(started + [full]))
        for number in registered.indices {
            let body = ["email": "\(number)@example.org", "password": AppUser.password]
            // Known, although the tokens may not fit.
            #expect([200, 507].contains(try ann.ask("POST", "/v1/auth/token", body).status))
        }
    }

    @Test func everythingCanBeDeletedFromAFullStore() throws {
        let (full, other) = (try ann.start().session, try ann.start().session)
        _ = try fill(full)
        _ = try fill { _ in try ann.ask("POST", "/v1/sessions/start", ["context": "phone"]) }
        #expect(try ann.ask("POST", "/v1/auth/logout", ["refresh_token": ann.refreshToken]).status == 204)
        #expect(try ann.ask("DELETE", "/v1/sessions/\(other)").status == 204)
        #expect(try ann.ask("DELETE", "/v1/sessions").status == 204)
        #expect(try ann.sessions().isEmpty)
        _ = try fill(try ann.start().session)
        #expect(try ann.ask("DELETE", "/v1/users/me").status == 204)
        #expect(try ann.ask("GET", "/v1/users/me").status == 401)
    }

    @Test func callsContinueWhenTheStoreIsFull() throws {
        let (full, going) = (try ann.start(), try ann.start())
        let bystanders = try BystanderCall(on: backend.gateway)
        _ = try fill(full.session)
        let phone = try going.join(backend.gateway)
        let guide = try Caller(backend.gateway, room: going.room, identity: "guide") { $0.kind = .agent }
        let track = try phone.publish()
        for number in 0..<50 { try phone.say(TestFrame.bytes(track.alias, number)) }
        for number in 0..<50 { #expect(try guide.frame() == TestFrame.bytes(track.alias, number)) }
        let report = bystanders.finish()
        #expect(report.isSound, "\(report)")
    }

    @Test func turnsSaidMeanwhileAreStoredOnceThereIsRoom() throws {
        let (full, going) = (try ann.start(), try ann.start())
        let phone = try going.join(backend.gateway)
        _ = try fill(full.session)
        // Longer than any remaining space.
        let text = String(repeating: "meet me at the harbour ", count: 500)
        try phone.ask(.segment(TranscriptSegment(id: "s1", role: .user, text: text, final: true)))
        #expect(try ann.say(text, in: going.session).status == 507)
        #expect(try ann.words(of: going.session).isEmpty)
        #expect(try ann.ask("DELETE", "/v1/sessions/\(full.session)").status == 204)
        #expect(try ann.say("there is room", in: going.session).status == 200)
        try Patience.until("what was said") { try Set(ann.words(of: going.session)) == [text, "there is room"] }
        _ = try ann.start()
    }
}
