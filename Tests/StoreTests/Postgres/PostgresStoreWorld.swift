import Foundation
import Glibc
import Identity
import TestStore
import Testing

@testable import Store

/// A store in a PostgreSQL database, whichever engine the other stories use.
struct PostgresStoreWorld {
    let server: PostgresServer
    let database: PostgresSettings
    let masterKey = MasterKey()
    let store: Store

    /// - Parameters:
    ///   - server: nil for the one of all tests, which must not be disturbed.
    ///   - statementTimeout: nil for the usual one.
    init(on server: PostgresServer? = nil, statementTimeout: Duration? = nil) throws {
        self.server = try server ?? .shared()
        var database = PostgresSettings(target: try self.server.makeDatabase())
        if let statementTimeout { database.statementTimeout = statementTimeout }
        self.database = database
        store = try Store(postgres: database, masterKeys: [masterKey], passwordCost: StoreWorld.quickCost)
    }

    /// The name of the database.
    var name: String { String(database.target.split(separator: "=").last ?? "") }

    var now: WallTime { StoreWorld.start }

    /// Opens the store, or the one in another database, once more.
    func open(_ other: PostgresSettings? = nil, key: MasterKey? = nil, access: Store.Access = .node) throws -> Store {
        try Store(postgres: other ?? database, masterKeys: [key ?? masterKey], access: access, passwordCost: StoreWorld.quickCost)
    }

    /// A user with logging enabled.
    func makeUser(_ email: String = "\(UUID().uuidString)@example.org", password: SecretText = StoreWorld.password) async throws -> User {
        let user = try await store.accounts.createUser(email: email, password: password, at: now)
        return try await store.accounts.updateSettings(of: user.id) { ($0.loggingEnabled, $0.hasSeenOnboarding) = (true, true) }
    }

    func startSession(of user: User, context: String? = nil) async throws -> Session {
        try await store.sessions.start(SessionRequest(context: "phone", clientContext: context), of: user.id, at: now).session
    }

    func turn(_ text: String, number: Int, in session: Session) -> Turn {
        Turn(
            id: TurnID(session: session.id, segment: "\(number)"), sessionID: session.id, timestamp: session.startedAt + .seconds(number),
            speaker: .user, text: text)
    }

    // MARK: Past the store

    func run(_ script: String) throws { try PostgresConnection(database).run(script) }

    /// The database as `pg_dump` writes it.
    func dump() throws -> PostgresDump { try PostgresDump(of: database.target) }

    /// - Returns: a new database with the content of a dump.
    func restore(_ dump: PostgresDump) throws -> PostgresSettings {
        let target = try server.makeDatabase()
        try dump.restore(to: target)
        return PostgresSettings(target: target)
    }

    /// The server's files in which `bytes` stand, after a checkpoint: tables, indexes and the write-ahead log.
    func files(with bytes: some Collection<UInt8>) throws -> [String] {
        try run("CHECKPOINT")
        let (needle, files, folder) = (Array(bytes), FileManager.default, server.dataFolder)
        return (files.subpaths(atPath: folder) ?? []).filter { name in
            guard let content = try? Data(contentsOf: URL(filePath: folder + "/" + name)) else { return false }
            return content.withUnsafeBytes { Self.contains($0, needle) }
        }
    }

    /// Servers have hundreds of megabytes, too many for `Data.range(of:)` in a debug build.
    private static func contains(_ bytes: UnsafeRawBufferPointer, _ needle: [UInt8]) -> Bool {
        var rest = bytes[...]
        while rest.count >= needle.count {
            let start = UnsafeRawBufferPointer(rebasing: rest)
            guard let base = start.baseAddress, let found = memchr(base, Int32(needle[0]), start.count - needle.count + 1) else {
                return false
            }
            if memcmp(found, needle, needle.count) == 0 { return true }
            rest = rest.dropFirst(base.distance(to: UnsafeRawPointer(found)) + 1)
        }
        return false
    }
}

extension PostgresPool {
    /// `transaction` on one of the pool's threads.
    @discardableResult
    func run<T: Sendable>(
        _ mode: Mode = .write, timeout: Duration? = nil, _ body: @Sendable (PostgresConnection) throws -> T
    ) async throws -> T {
        try await withTaskExecutorPreference(threads) { try transaction(mode, timeout: timeout, body) }
    }
}
