import Backend
import Engine
import Foundation
import Gateway
import Identity
import TestStore
import Testing
import Wire

@testable import Store

/// A gateway whose PostgreSQL server freezes, dies, is emptied or has a full disk. Calls go on, and every request gets an answer.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)), .enabled(if: PostgresServer.isInstalled, "needs PostgreSQL"))
struct StoreOutageTests {
    private static func backend(on target: String, webhookEndpoints: [String] = []) throws -> TestBackend {
        var database = PostgresSettings(target: target)
        (database.connectTimeout, database.statementTimeout, database.grace) = (.seconds(3), .seconds(3), .seconds(2))
        return try TestBackend(database: database, webhookEndpoints: webhookEndpoints) { $0.room.resumeWindow = .seconds(20) }
    }

    private func expectUnreachable(_ answer: HTTPAnswer) {
        #expect(answer.status == 503 && answer.code == "store_busy" && answer.fields["retry-after"] == "5", "\(answer.text)")
    }

    @Test func framesFlowWhileTheDatabaseIsFrozenAndAfterItIsKilled() throws {
        let server = try PostgresServer()
        let backend = try Self.backend(on: server.makeDatabase())
        let ann = try AppUser(backend)
        let call = try CallInASession(of: ann)
        let bystanders = try BystanderCall(on: backend.gateway)
        try call.talk("before")

        server.freeze()
        try call.talk("frozen")
        expectUnreachable(try ann.ask("GET", "/v1/sessions"))
        expectUnreachable(try ann.ask("POST", "/v1/sessions/start", ["context": "phone"]))
        try call.talk("still frozen")
        server.thaw()
        try Patience.until("the store is back") { try ann.ask("GET", "/v1/sessions").status == 200 }
        try call.talk("thawed")

        try server.kill()
        try call.talk("killed")
        for _ in 1...5 { expectUnreachable(try ann.ask("GET", "/v1/sessions")) }
        expectUnreachable(try ann.say("by request", in: call.session))
        try call.talk("still killed")
        try server.start()
        try Patience.until("the store is back") { try ann.ask("GET", "/v1/sessions").status == 200 }
        #expect(try ann.say("by request", in: call.session).status == 200)
        try call.talk("after")

        let said = ["before", "frozen", "still frozen", "thawed", "killed", "still killed", "by request", "after"]
        try Patience.until("everything that was said") { try ann.words(of: call.session).count >= said.count }
        #expect(try ann.words(of: call.session).sorted() == said.sorted())
        try call.expectNobodyLeft()
        let report = bystanders.finish()
        #expect(report.isSound, "\(report)")
        #expect(try ann.ask("POST", "/v1/sessions/start", ["context": "phone"]).status == 200)
    }

    /// Their user's only connection breaks while the call rings and the database is away.
    @Test func phonesAreWokenOnceTheDatabaseIsBack() async throws {
        let server = try PostgresServer()
        let backend = try Self.backend(on: server.makeDatabase(), webhookEndpoints: ["https://hooks.example/in"])
        let (ann, bob) = (try AppUser(backend), try AppUser(backend, "bob@example.org", logs: false))
        #expect(try bob.ask("POST", "/v1/devices", ["platform": "android", "push_token": "t"]).status == 201)
        let tablet = try TestDevice(backend.gateway.webSocket(.upgrade(token: bob.accessToken, path: "/v1/events")))
        #expect(try ann.ask("POST", "/v1/calls", ["to": [bob.id]]).status == 201)
        try tablet.event(.incoming)

        try server.kill()
        tablet.socket.socket.close()
        try Patience.until("its channel is closed") { try backend.gateway.value(Counter(name: "patchbay_devices")) == 0 }
        for _ in 1...5 { expectUnreachable(try ann.ask("POST", "/v1/calls", ["to": [bob.id]])) }
        try server.start()
        func isPushed() async -> Bool {
            let waiting = try? await backend.store.webhooks.list(.waiting)
            return waiting?.contains { $0.webhook.event == "push.call_incoming" } ?? false
        }
        while await !isPushed() { try await Task.sleep(for: .milliseconds(50)) }
    }

    @Test func anEmptiedDatabaseFailsRequestsUntilItIsRestored() throws {
        let server = try PostgresServer()
        let target = try server.makeDatabase()
        let name = String(target.split(separator: "=").last ?? "")
        let backend = try Self.backend(on: target)
        let ann = try AppUser(backend)
        let call = try CallInASession(of: ann)
        try call.talk("before")
        try Patience.until("what was said") { try ann.words(of: call.session) == ["before"] }
        let dump = try PostgresDump(of: target)

        try server.kill()
        try server.start()
        try server.emptyDatabase(name)
        // The gateway may have noticed the restart, and wait before it connects again.
        try Patience.until("the server is reached") { try ann.ask("GET", "/v1/sessions").status != 503 }
        for (method, path, body) in [
            ("GET", "/v1/sessions", nil as [String: String]?), ("POST", "/v1/sessions/start", ["context": "phone"]),
            ("POST", "/v1/auth/register", ["email": "bob@example.org", "password": AppUser.password]),
        ] {
            let answer = try ann.ask(method, path, body)
            #expect(answer.status == 500 && answer.code == "store_failed", "\(method) \(path): \(answer.text)")
        }
        try server.run("DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public'); END $$", in: name)
        try call.talk(nil)

        try dump.restore(to: target)
        #expect(try ann.words(of: call.session) == ["before"])
        #expect(try ann.say("after", in: call.session).status == 200)
        try call.expectNobodyLeft()
    }

    @Test(.enabled(if: PostgresServer.canMount, "needs root, which mounts a small disk"))
    func aFullDiskOfTheServerIsAnsweredWith507UntilThereIsSpace() throws {
        let server = try PostgresServer(diskSize: 24 << 20)
        try server.run("CREATE TABLESPACE small LOCATION '\(server.diskFolder)'")
        let target = try server.makeDatabase(in: "small")
        let backend = try Self.backend(on: target)
        let ann = try AppUser(backend)
        let (call, other) = (try CallInASession(of: ann), try ann.start().session)
        try call.talk("before")
        // PostgreSQL creates a database's files with holes, which take space only when pages are written.
        try server.run("CHECKPOINT")
        try PostgresServer.run("CREATE TABLE ballast (bytes bytea); ALTER TABLE ballast ALTER bytes SET STORAGE EXTERNAL", at: target)
        // A gateway does not end before its store has room for what was said.
        defer { try? PostgresServer.run("DROP TABLE IF EXISTS ballast", at: target) }
        for size in [1_000_000, 1_000] {
            let fill = "INSERT INTO ballast VALUES (decode(repeat('ab', \(size)), 'hex'))"
            while (try? PostgresServer.run(fill, at: target)) != nil {}
        }

        // Too long for what is free in pages of the store.
        let text = String(repeating: "meet me at the harbour ", count: 500)
        var stored = 0
        while case let answer = try ann.say("\(stored) \(text)", in: other), answer.status != 507 || answer.code != "store_full" {
            #expect(answer.status == 200, "\(answer.text)")
            stored += 1
            try #require(stored < 100)
        }
        let refused = try ann.say(text, in: other)
        #expect(refused.status == 507 && refused.fields["retry-after"] == "30", "\(refused.text)")
        #expect(try ann.words(of: other).count == stored)
        try call.talk(text)
        #expect(try ann.ask("GET", "/v1/sessions").status == 200)

        try PostgresServer.run("DROP TABLE ballast", at: target)
        #expect(try ann.say("there is room", in: other).status == 200)
        #expect(try ann.words(of: other).count == stored + 1)
        try Patience.until("what was said meanwhile") { try Set(ann.words(of: call.session)) == ["before", text] }
        try call.expectNobodyLeft()
    }
}

/// A user and an assistant in the room of a session, who talk when told to.
private final class CallInASession {
    /// Few enough for the rate of a track, however fast the talks follow each other.
    private static let framesPerTalk = 10

    let session: String
    private let phone: Caller
    private let guide: Caller
    private let track: TrackInfo
    private var frames = 0
    private var segments = 0

    init(of user: AppUser) throws {
        let started = try user.start()
        session = started.session
        phone = try started.join(user.backend.gateway)
        guide = try Caller(user.backend.gateway, room: started.room, identity: "guide") { $0.kind = .agent }
        track = try phone.publish()
        try guide.settle()
    }

    /// The user's frames reach the assistant, each once and in order.
    ///
    /// - Parameter words: the transcript of them; nil for none.
    func talk(_ words: String?) throws {
        for number in frames..<frames + Self.framesPerTalk { try phone.say(TestFrame.bytes(track.alias, number)) }
        for number in frames..<frames + Self.framesPerTalk { #expect(try guide.frame() == TestFrame.bytes(track.alias, number)) }
        frames += Self.framesPerTalk
        guard let words else { return }
        segments += 1
        try phone.ask(.segment(TranscriptSegment(id: "s\(segments)", role: .user, text: words, final: true)))
        let id = "s\(segments)"
        _ = try guide.event("the transcript") { if case .segment(let segment) = $0, segment.id == id { true } else { nil } }
    }

    func expectNobodyLeft() throws {
        for caller in [phone, guide] {
            try caller.settle()
            #expect(caller.ending == nil && caller.frames.isEmpty)
            #expect(!caller.events.contains { if case .participantLeft = $0 { true } else { false } })
        }
    }
}
