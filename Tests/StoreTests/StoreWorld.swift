import Foundation
import GRDB
import Identity
import TestStore
import Testing

@testable import Store

/// A new store, in a directory or, with `PATCHBAY_TEST_STORE=postgres` in the environment, in a PostgreSQL database.
final class StoreWorld: Sendable {
    /// Enough to see that a password fits, and no more work than that.
    static let quickCost = PasswordHash.Cost(logBlocks: 10, blockSize: 8, parallelism: 1)
    static let start = WallTime(milliseconds: 1_795_267_016_250)
    static let password = SecretText("correct horse battery staple")

    private let place: StorePlace
    let masterKey: MasterKey
    let store: Store

    init(sizeMax: Int? = nil) throws {
        place = try StorePlace(
            directory: FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)").path)
        masterKey = MasterKey()
        store = try place.open(masterKeys: [masterKey], passwordCost: Self.quickCost, sizeMax: sizeMax)
    }

    /// Of SQLite's files; unused otherwise.
    var directory: String { place.directory }

    /// Nil on SQLite.
    private var database: PostgresSettings? { place.database }

    /// Opens the store once more.
    func reopen(keys: [MasterKey]? = nil, access: Store.Access = .owner) throws -> Store {
        try place.open(masterKeys: keys ?? [masterKey], access: access, passwordCost: Self.quickCost)
    }

    // The store is not closed here, since a deinitializer may run on the store's own queue, for which closing would wait.
    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    var now: WallTime { Self.start }

    /// A user with logging enabled.
    func makeUser(_ email: String = "\(UUID().uuidString)@example.org", isLogged: Bool = true) async throws -> User {
        let user = try await store.accounts.createUser(email: email, password: Self.password, at: now)
        return isLogged
            ? try await store.accounts.updateSettings(of: user.id) { ($0.loggingEnabled, $0.hasSeenOnboarding) = (true, true) } : user
    }

    func startSession(of user: User, at time: WallTime? = nil) async throws -> Session {
        try await store.sessions.start(SessionRequest(context: "phone"), of: user.id, at: time ?? now).session
    }

    /// A session that has ended, with turns of these words by turns.
    @discardableResult
    func talk(_ user: User, _ words: [String], at time: WallTime? = nil) async throws -> Session {
        let session = try await startSession(of: user, at: time)
        for (index, text) in words.enumerated() {
            let turn = turn(text, in: session, after: .seconds(index), by: index.isMultiple(of: 2) ? .user : .assistant)
            _ = try await store.sessions.append(turn, of: user.id)
        }
        return try await store.sessions.end(session.id, of: user.id, at: session.startedAt + .seconds(60)).session
    }

    func turn(_ text: String, in session: Session, after: Duration = .zero, by speaker: Turn.Speaker = .user) -> Turn {
        Turn(id: TurnID(), sessionID: session.id, timestamp: session.startedAt + after, speaker: speaker, text: text)
    }

    /// Reads or changes the database directly, as an attacker with access to it would.
    func thief<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        guard let database else { return try sqliteThief(body) }
        return try body(try PostgresConnection(database))
    }

    func tamper(_ sql: String, _ values: any SQLValue...) throws {
        _ = try thief { db in try db.execute(sql, values) }
    }

    func count(_ sql: String) throws -> Int { try thief { db in try db.one(sql, [])?[0] ?? 0 } }

    func blobs(_ sql: String) throws -> [Data] { try thief { db in try db.all(sql, []).map { try $0[0] } } }

    /// Opens the store's file directly.
    func sqliteThief<T>(_ body: (GRDB.Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        return try DatabaseQueue(path: directory + "/patchbay.sqlite", configuration: configuration).write(body)
    }

    /// Another one's way into the store's file, for as long as it is kept.
    func makeConnection() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: directory + "/patchbay.sqlite", configuration: configuration)
    }

    /// Blocks other writes until it commits.
    func holdWrites() throws -> DatabaseQueue {
        let holder = try makeConnection()
        try holder.inDatabase { db in try db.beginTransaction(.immediate) }
        return holder
    }

    /// The sealed bytes of a session's first turn, to be searched for in the files.
    func sealedTurn(of session: Session) throws -> Data {
        try thief { db in try db.one("SELECT text FROM turns WHERE session_id = ? LIMIT 1", [session.id])?[0] ?? Data() }
    }

    private var log: String { directory + "/patchbay.sqlite-wal" }

    /// In bytes.
    func logSize() throws -> Int {
        try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? 0
    }

    /// Counts commits in a truncated log: the frame that ends a commit holds the database's size in pages, others hold 0.
    func commitsInLog() throws -> Int {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: log)))
        return stride(from: 32, to: bytes.count, by: 24 + 4_096).count { page in bytes[page + 4..<page + 8].contains { $0 != 0 } }
    }

    /// The store's files that contain `bytes`: on PostgreSQL the files of all databases, and the write-ahead log.
    func files(with bytes: some Collection<UInt8>) throws -> [String] {
        let (needle, files) = (Data(bytes), FileManager.default)
        var folder = directory
        if let database {
            try PostgresConnection(database).run("CHECKPOINT")
            folder = try PostgresServer.shared().dataFolder
        }
        return try (files.subpaths(atPath: folder) ?? []).filter { name in
            var isDirectory: ObjCBool = false
            guard files.fileExists(atPath: folder + "/" + name, isDirectory: &isDirectory), !isDirectory.boolValue else { return false }
            return try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)).range(of: needle) != nil
        }
    }

    static let content = SummaryContent(
        title: "Groceries", summaryText: "Apples were ordered.", actionItems: ["Buy apples"], tags: ["fruit"])
}

extension Trait where Self == ConditionTrait {
    /// For tests of SQLite's files, locks and pages.
    static var onlyOnSQLite: Self { .enabled(if: StorePlace.isOnSQLite, "about SQLite's files") }
}
