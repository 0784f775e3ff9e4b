import ArgumentParser
import Foundation
import Identity
import Store

/// The program `patchbay-fill-store`: fills a store with the conversations of a year.
@main
struct FillStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchbay-fill-store",
        abstract: "Fills a new store with users and conversations, without a gateway.",
        discussion: """
            Users are user0@example.org, user1@example.org, … with one password. Their sessions have ended and are summarized. The master key is next \
            to a store in a directory, in master.key, where `patchbay serve --dev --data DIRECTORY` looks for it.

            EXAMPLES
              patchbay-fill-store /tmp/data
              patchbay-fill-store /tmp/data --users 10 --sessions 500 --turns 100
              patchbay-fill-store --database postgresql://patchbay@db.example/patchbay --master-key /tmp/data/master.key
            """)

    @Argument(help: "A directory without a store.")
    var directory: String?
    @Option(help: "Instead of a directory: the URI of an empty PostgreSQL database.")
    var database: String?
    @Option(
        name: .customLong("master-key"),
        help: ArgumentHelp("The file with the master key of a store in a database; made if it is not there.", valueName: "file"))
    var masterKey: String?
    @Option(help: "Number of users, among whom the sessions are divided evenly.")
    var users = 50
    @Option(help: "Total number of sessions.")
    var sessions = 10_000
    @Option(help: "Turns per session.")
    var turns = 40
    @Option(help: "The password of all users.")
    var password = "correct horse battery"

    /// Concurrent writers, enough to fill shared commits.
    private static let writers = 2 * StoreLimits.writesPerCommitMax

    func validate() throws {
        guard users > 0, sessions >= 0, turns >= 0 else { throw ValidationError("pass at least one user and no negative numbers") }
        guard (directory == nil) != (database == nil) else { throw ValidationError("pass either a directory or --database") }
        guard (masterKey == nil) == (database == nil) else { throw ValidationError("--database and --master-key need each other") }
        if let directory, FileManager.default.fileExists(atPath: directory + "/patchbay.sqlite") {
            throw ValidationError("\(directory) already contains a store; choose another directory")
        }
    }

    func run() async throws {
        let store = try makeStore()
        let userIDs = try await makeUsers(in: store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<sessions {
                if index >= Self.writers { try await group.next() }
                group.addTask { try await storeSession(number: index, userIDs[index % userIDs.count], in: store) }
            }
            try await group.waitForAll()
        }
        try await store.compact()
        try store.close()
    }

    private func makeStore() throws -> Store {
        if let database, let masterKey {
            let keys = [
                try FileManager.default.fileExists(atPath: masterKey) ? MasterKey(file: masterKey) : MasterKey.make(file: masterKey)
            ]
            let settings = PostgresSettings(target: database)
            guard try Store.condition(postgres: settings, masterKeys: keys).0 == .missing else {
                throw ValidationError("the database already contains a store; choose another one")
            }
            return try Store(postgres: settings, masterKeys: keys)
        }
        let directory = directory ?? ""
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        return try Store(directory: directory, masterKeys: [try MasterKey.make(file: directory + "/master.key")])
    }

    private func makeUsers(in store: Store) async throws -> [UserID] {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<users {
                if number >= StoreLimits.passwordsAtOnceMax { try await group.next() }
                group.addTask {
                    let user = try await store.accounts.createUser(
                        email: "user\(number)@example.org", password: SecretText(password), at: Self.now)
                    _ = try await store.accounts.updateSettings(of: user.id) { ($0.loggingEnabled, $0.hasSeenOnboarding) = (true, true) }
                }
            }
            try await group.waitForAll()
        }
        var userIDs: [UserID] = []
        for number in 0..<users { userIDs.append(try await store.accounts.user(email: "user\(number)@example.org").id) }
        return userIDs
    }

    /// Stores one session. Sessions follow each other by a minute; the last ends now.
    private func storeSession(number: Int, _ user: UserID, in store: Store) async throws {
        let start = WallTime(milliseconds: Self.now.milliseconds - Int64(sessions - number) * 60_000)
        let session = try await store.sessions.start(SessionRequest(context: "phone"), of: user, at: start).session
        var words = Words(seed: UInt64(number))
        for index in 0..<turns {
            let turn = Turn(
                id: TurnID(), sessionID: session.id, timestamp: start + .seconds(index),
                speaker: index.isMultiple(of: 2) ? .user : .assistant,
                text: words.sentence())
            _ = try await store.sessions.append(turn, of: user)
        }
        _ = try await store.sessions.end(session.id, of: user, at: start + .seconds(59))
        // The job may belong to another session; each writer takes one.
        guard let job = try await store.sessions.lease(.summary, for: .seconds(600), at: Self.now), let owner = job.userID,
            let id = SessionID(text: job.subject)
        else { return }
        let content = SummaryContent(
            title: words.sentence(), summaryText: (0..<4).map { _ in words.sentence() }.joined(separator: ". "),
            actionItems: [words.sentence()], tags: ["street", "house"])
        _ = try await store.sessions.saveSummary(content, for: id, of: owner, finishing: job, at: Self.now)
    }

    private static let now = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
}

/// Sentences of 4 to 30 words, determined by the seed.
private struct Words {
    private static let all = """
        the quick brown fox jumps over a lazy dog while a long street beside some quiet house waits for rain in early spring today
        """.split(separator: " ")
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    private mutating func below(_ limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(limit))
    }

    mutating func sentence() -> String {
        (0..<4 + below(27)).map { _ in Self.all[below(Self.all.count)] }.joined(separator: " ")
    }
}
