import Foundation
import Glibc
import Identity
import Store
import Synchronization
import Testing

/// A process that is killed at a random moment while it writes.
@Suite(.serialized, .onlyOnSQLite) struct KillTests {
    @Test func acknowledgedWritesSurviveAnyKillOnce() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kill-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let key = MasterKey()
        let (keyText, acknowledged) = (key.text.revealedText, directory + "/acknowledged")
        try await Self.makeUser(in: directory, key)

        for _ in 0..<12 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String, keyText = keyText as String] in
                try await KillTests.writeUntilKilled(directory, keyText)
            }
            let store = try Store(directory: directory, masterKeys: [key], passwordCost: StoreWorld.quickCost)
            let report = try await store.verify()
            #expect(report.problems == [])
            try await Self.expectEverything(acknowledged, in: store)
            try store.close()
        }
        let lines = try String(contentsOfFile: acknowledged, encoding: .utf8).split(separator: "\n")
        #expect(lines.count > 100, "the kills came before anything was written")
    }

    private static func makeUser(in directory: String, _ key: MasterKey) async throws {
        let store = try Store(directory: directory, masterKeys: [key], passwordCost: StoreWorld.quickCost)
        let user = try await store.accounts.createUser(email: "ann@example.org", password: StoreWorld.password, at: StoreWorld.start)
        _ = try await store.accounts.updateSettings(of: user.id) { ($0.loggingEnabled, $0.hasSeenOnboarding) = (true, true) }
        try store.close()
    }

    /// Lines are `session turn`, written after the store has acknowledged the turn.
    private static func expectEverything(_ acknowledged: String, in store: Store) async throws {
        let user = try await store.accounts.user(email: "ann@example.org")
        var turns: [String: [String]] = [:]
        let lines = try String(contentsOfFile: acknowledged, encoding: .utf8).split(separator: "\n")
        for line in lines where line.utf8.count == 73 {
            turns[String(line.prefix(36)), default: []].append(String(line.suffix(36)))
        }
        for (session, expected) in turns {
            let id = try #require(SessionID(text: session))
            let record = try await store.sessions.record(of: id, of: user.id)
            let kept = record.turns.map(\.id.text)
            #expect(Set(kept).isSuperset(of: expected) && Set(kept).count == kept.count)
            // The webhook is in the same commit as the end.
            if record.session.endedAt != nil {
                let told = try await store.webhooks.list(limit: 100_000).count { $0.webhook.sessionID == id }
                #expect(told == 1)
            }
        }
    }

    private static func writeUntilKilled(_ directory: String, _ keyText: String) async throws {
        let key = try #require(MasterKey(text: SecretText(keyText)))
        let store = try Store(directory: directory, masterKeys: [key], passwordCost: StoreWorld.quickCost)
        let user = try await store.accounts.user(email: "ann@example.org")
        let file = open(directory + "/acknowledged", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let delay = UInt32.random(in: 5_000...300_000)
        Thread.detachNewThread {
            usleep(delay)
            kill(getpid(), SIGKILL)
        }
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    while true { try? await talk(in: store, user, file) }
                }
            }
        }
    }

    private static func talk(in store: Store, _ user: User, _ file: Int32) async throws {
        let session = try await store.sessions.start(SessionRequest(context: "phone"), of: user.id, at: StoreWorld.start).session
        for index in 0..<10 {
            let turn = Turn(
                id: TurnID(session: session.id, segment: "\(index)"), sessionID: session.id, timestamp: StoreWorld.start, speaker: .user,
                text: "word \(index)")
            // Told twice, as after a resume.
            _ = try await store.sessions.append(turn, of: user.id)
            _ = try await store.sessions.append(turn, of: user.id)
            let line = "\(session.id) \(turn.id)\n"
            _ = line.withCString { write(file, $0, strlen($0)) }
        }
        _ = try await store.sessions.end(
            session.id, of: user.id,
            webhooks: { [OutgoingWebhook(event: "session_ended", endpoint: "https://a", room: $0.roomName, body: "{}", sessionID: $0.id)] },
            at: StoreWorld.start)
    }
}
