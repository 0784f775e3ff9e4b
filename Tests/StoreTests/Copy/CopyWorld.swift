import Foundation
import GRDB
import Identity
import TestStore
import Testing
import Wire

@testable import Store

/// Stores in directories and databases with one master key.
final class CopyWorld: Sendable {
    enum Engine: CaseIterable, Sendable {
        case sqlite, postgres
    }

    let masterKey = MasterKey()
    let now = StoreWorld.start
    private let folder = FileManager.default.temporaryDirectory.appending(path: "copy-\(UUID().uuidString)").path

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A place without a store.
    func place(_ engine: Engine) throws -> StoreLocation {
        switch engine {
        case .sqlite: .directory(folder + "/" + UUID().uuidString)
        case .postgres: .database(PostgresSettings(target: try PostgresServer.shared().makeDatabase()))
        }
    }

    func open(_ location: StoreLocation, access: Store.Access = .owner) throws -> Store {
        switch location {
        case .directory(let path):
            try Store(directory: path, masterKeys: [masterKey], access: access, passwordCost: StoreWorld.quickCost)
        case .database(let settings):
            try Store(postgres: settings, masterKeys: [masterKey], access: access, passwordCost: StoreWorld.quickCost)
        }
    }

    /// A store with rows in every table, closed.
    func makeStore(_ engine: Engine) async throws -> (location: StoreLocation, user: User, session: Session) {
        let location = try place(engine)
        let store = try open(location)
        let (user, session) = try await fill(store)
        try store.close()
        return (location, user, session)
    }

    @discardableResult
    func copy(
        _ source: StoreLocation, to destination: StoreLocation, keys: [MasterKey]? = nil, isVerified: Bool = true,
        progress: (StoreCopy.Progress) throws -> Void = { _ in }
    ) throws -> StoreCopy.Report {
        try StoreCopy(from: source, to: destination, masterKeys: keys ?? [masterKey], isVerified: isVerified).run(progress: progress)
    }

    // MARK: Content

    private func fill(_ store: Store) async throws -> (User, Session) {
        let ann = try await makeUser("ann", in: store)
        _ = try await makeUser("bob", in: store)
        try await store.accounts.setContacts([Contact(address: "bob@example.org")], of: ann.id)
        _ = try await store.accounts.makeRefreshToken(for: ann.id, lasting: .seconds(86_400), at: now)
        try await store.accounts.requestPasswordReset(email: "ann@example.org", webhooks: { _, _ in [] }, at: now)
        _ = try await store.calls.registerPushDevice(.android, token: SecretText("token"), of: ann.id, at: now)
        try await store.assistants.save(AssistantDefinition(id: "shop", instructions: "Sell books."), at: now)
        let conversation = try await store.conversations.make(named: "Trip", by: ann.id, at: now)
        _ = try await store.conversations.say("Who drives?", in: conversation.id, by: ann.id, at: now)
        try await makeClip(in: store, of: ann)

        // More than a statement inserts, and no power of two.
        let session = try await talk(in: store, ann, turns: 300)
        _ = try await store.sessions.addRecording(SessionRecording(name: "a.ogg", node: "n1"), to: session.id, of: ann.id)
        try await store.sessions.saveSummary(StoreWorld.content, for: session.id, of: ann.id, at: now)
        // Its recording becomes an unwanted file, and the numbers of its job and of its webhook are not used again.
        let deleted = try await talk(in: store, ann, turns: 1)
        _ = try await store.sessions.addRecording(SessionRecording(name: "b.ogg", node: "n2"), to: deleted.id, of: ann.id)
        try await store.sessions.delete(deleted.id, of: ann.id)
        var announcement = Announcement([], effect: .opens(OpenAnnouncement(key: "room", content: "{}", userID: ann.id)))
        let party = CallParty.user(Identity(text: "ann"))
        announcement.call = (
            ann.id,
            CallLogEntry(
                id: CallID(text: "CA_a"), caller: party, callerName: "Ann", status: .completed,
                members: [.init(party: party, status: .completed)], startedAt: now, answeredAt: nil, endedAt: now + .seconds(60))
        )
        let fence = RoomFence("den", RoomEpoch(number: 1, claim: .max), at: now)
        try await store.webhooks.announce(announcement, fencedBy: fence, at: now)
        return (try await store.accounts.user(ann.id), session)
    }

    private func makeUser(_ name: String, in store: Store) async throws -> User {
        let user = try await store.accounts.createUser(email: "\(name)@example.org", password: StoreWorld.password, at: now)
        return try await store.accounts.updateSettings(of: user.id) { ($0.loggingEnabled, $0.hasSeenOnboarding) = (true, true) }
    }

    /// With more audio than one request of a copy takes.
    private func makeClip(in store: Store, of user: User) async throws {
        let limits = ClipLimits()
        let request = SpeechRequest(text: "Hello Ann.", voice: "nova", provider: "embedded")
        let clip = try await store.clips.add(for: request, of: .user(user.id), limits: limits, at: now)
        _ = try await store.clips.start(clip.id)
        let audio = [UInt8](repeating: 7, count: StoreLimits.bytesPerFetch + 1)
        let details = ClipDetails(mimeType: "audio/ogg", durationMs: 1_250, words: [])
        #expect(try await store.clips.finish(clip.id, audio: audio, details: details, limits: limits, at: now))
    }

    /// A session that has ended, with its job and its webhook.
    func talk(in store: Store, _ user: User, turns: Int) async throws -> Session {
        let request = SessionRequest(context: "phone", idempotencyKey: UUID().uuidString)
        let session = try await store.sessions.start(request, of: user.id, at: now).session
        for index in 0..<turns {
            let turn = Turn(
                id: TurnID(), sessionID: session.id, timestamp: now + .seconds(index), speaker: .user, text: "Number \(index), höre.")
            _ = try await store.sessions.append(turn, of: user.id)
        }
        let ended = OutgoingWebhook(event: "session_ended", endpoint: "https://a", room: "r", body: "{}", sessionID: session.id)
        return try await store.sessions.end(session.id, of: user.id, webhooks: { _ in [ended] }, at: now + .seconds(400)).session
    }

    // MARK: Past the store

    /// Calls `body` with a connection of the engine.
    func connection<T>(to location: StoreLocation, _ body: (any CopyConnection) throws -> T) throws -> T {
        switch location {
        case .directory(let path):
            let queue = try DatabaseQueue(path: path + "/" + SQLiteDatabase.fileName)
            defer { try? queue.close() }
            return try queue.write { db in try body(db) }
        case .database(let settings):
            let connection = try PostgresConnection(settings)
            try connection.run("BEGIN")
            let result = try body(connection)
            try connection.run("COMMIT")
            return result
        }
    }

    /// All rows by table.
    func rows(in location: StoreLocation) throws -> [String: [[Datum]]] {
        try connection(to: location) { connection in
            var rows: [String: [[Datum]]] = [:]
            for table in try Catalogue().tables {
                rows[table.name] = []
                try connection.each(table.selection, []) { row in
                    let values = try table.columns.enumerated().map { index, column in
                        switch column.type {
                        case .integer: (try row[index] as Int64?).datum
                        case .real: (try row[index] as Double?).datum
                        case .text: (try row[index] as String?).datum
                        case .blob: (try row[index] as Data?).datum
                        }
                    }
                    rows[table.name]?.append(values)
                }
            }
            return rows
        }
    }
}
