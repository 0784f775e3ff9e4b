internal import Foundation
package import Identity

/// The repository of accounts: users with their keys, settings, passwords, tokens, codes and contacts.
package struct Accounts: Sendable {
    let database: any Database
    let passwords: PasswordHasher

    /// Executor for callers that make many store requests, so that they need no thread switch per request.
    package var threads: StoreThreads { database.threads }

    /// Creates an account. The password is hashed even if the address is taken, so that timing reveals nothing.
    ///
    /// - Parameter webhooks: if given, a code that confirms the address is made, and these are enqueued.
    /// - Throws: `emailTaken`; addresses are compared case-insensitively.
    package func createUser(
        email: String, password: SecretText, confirmedBy webhooks: AccountCodeWebhooks? = nil, at now: WallTime
    ) async throws(StoreError) -> User {
        let hash = try await passwords.hash(of: password)
        let code = AccountCode.Text()
        return try await database.write { db in
            let lookup = db.keychain.lookup(ofEmail: email)
            guard try Self.userID(lookup, in: db) == nil else { throw StoreError.emailTaken }
            let user = User(id: UserID(), email: email, settings: UserSettings(), createdAt: now)
            try Self.insert(user, lookup: lookup, password: hash, in: db)
            if let webhooks {
                let made = AccountCode(.emailConfirmation, code, at: now)
                _ = try Self.store(made, of: user.id, in: db, at: now)
                try Webhooks.enqueue(webhooks(user, made), in: db, at: now)
            }
            return user
        }
    }

    /// The user with this e-mail and password; nil for a wrong password and for an unknown address, after the same time.
    package func user(email: String, password: SecretText) async throws(StoreError) -> User? {
        let found: (user: User, hash: PasswordHash?)? = try await database.read { db in
            guard let id = try Self.userID(db.keychain.lookup(ofEmail: email), in: db) else { return nil }
            let key = try db.key(of: id)
            guard let row = try Self.userRow(id, in: db) else { return nil }
            guard let sealed = try row["password"] as Data? else { return nil }
            let text = try key.openText(sealed, at: Self.userLocation("password", id))
            return (try Self.user(id, from: row, key), PasswordHash(text: text))
        }
        return try await passwords.isRight(password, for: found?.hash) ? found?.user : nil
    }

    /// The user that an external issuer calls `subject`, created on first sight.
    package func user(issuer: String, subject: String, email: String?, at now: WallTime) async throws(StoreError) -> User {
        let lookup = database.keychain.lookup(issuer, subject, purpose: "subject")
        // Known users, nearly all, need no write.
        let known: User? = try await database.read { db in
            try Self.userID(lookup, in: db).map { try Self.user($0, try db.key(of: $0), in: db) }
        }
        if let known { return known }
        return try await database.write { db in
            if let id = try Self.userID(lookup, in: db) { return try Self.user(id, try db.key(of: id), in: db) }
            let user = User(id: UserID(), email: email, settings: UserSettings(), createdAt: now)
            try Self.insert(user, lookup: lookup, password: nil, in: db)
            return user
        }
    }

    package func user(_ id: UserID) async throws(StoreError) -> User {
        try await database.read { db in try Self.user(id, try db.key(of: id), in: db) }
    }

    /// The state that decides whether a user's tokens are accepted; nil if the user does not exist or is being deleted, that is, has no
    /// key.
    package func standing(of id: UserID) async throws(StoreError) -> UserStanding? {
        try await database.read { db in
            try db.one(
                """
                SELECT token_generation, password IS NOT NULL AND email_confirmed_at IS NULL FROM users
                WHERE id = ?1 AND EXISTS (SELECT 1 FROM user_keys WHERE user_id = ?1)
                """, id
            ).map { try UserStanding(tokenGeneration: $0[0], isUnconfirmed: $0[1]) }
        }
    }

    /// For operators only: users cannot look each other up by address.
    package func user(email: String) async throws(StoreError) -> User {
        let id = try await database.read { db in try Self.userID(db.keychain.lookup(ofEmail: email), in: db) }
        guard let id else { throw .notFound }
        return try await user(id)
    }

    /// Changes settings atomically: concurrent changes are not lost.
    ///
    /// - Parameter change: may run twice.
    /// - Throws: `notFound`; `handleTaken`; `refused` for settings that are out of range.
    package func updateSettings(
        of id: UserID, _ change: @escaping @Sendable (inout UserSettings) -> Void
    ) async throws(StoreError) -> User {
        try await database.write { db in
            let key = try db.key(of: id)
            var user = try Self.user(id, key, in: db)
            change(&user.settings)
            try user.settings.check()
            let handle = user.settings.handle.map(db.keychain.lookup(ofHandle:))
            guard try !db.has("SELECT 1 FROM users WHERE handle = ? AND id <> ?", handle, id) else { throw StoreError.handleTaken }
            try db.execute(
                """
                UPDATE users SET profile = ?, logging_enabled = ?, retention_days = ?, has_seen_onboarding = ?, shares_past_summaries = ?,
                    pushes_summaries = ?, reachable_by = ?, handle = ? WHERE id = ?
                """,
                try key.seal(Profile(user), at: Self.userLocation("profile", id)), user.settings.loggingEnabled,
                user.settings.retentionDays, user.settings.hasSeenOnboarding, user.settings.sharesPastSummaries,
                user.settings.pushesSummaries, user.settings.reachableBy, handle, id)
            return user
        }
    }
}

// MARK: - Rows

/// The encrypted part of a user's row.
private struct Profile: Codable {
    var email: String?
    var voice: String?
    var language: String?
    var timeZone: String?
    var handle: String?

    init(_ user: User) {
        email = user.email
        voice = user.settings.voice
        language = user.settings.language
        timeZone = user.settings.timeZone
        handle = user.settings.handle
    }
}

extension Keychain {
    func lookup(ofEmail email: String) -> Data { lookup(email.precomposedStringWithCanonicalMapping.lowercased(), purpose: "email") }
}

extension Accounts {
    static func userLocation(_ column: String, _ id: UserID) -> String { "users.\(column).\(id)" }

    static func userID(_ lookup: Data, in db: Transaction) throws -> UserID? {
        try db.one("SELECT id FROM users WHERE lookup = ?", lookup).map { try $0["id"] }
    }

    static func userRow(_ id: UserID, in db: Transaction) throws -> Row? { try db.one("SELECT * FROM users WHERE id = ?", id) }

    static func user(_ id: UserID, _ key: SealingKey, in db: Transaction) throws -> User {
        guard let row = try userRow(id, in: db) else { throw StoreError.notFound }
        return try user(id, from: row, key)
    }

    private static func user(_ id: UserID, from row: Row, _ key: SealingKey) throws -> User {
        let profile = try key.open(row["profile"], as: Profile.self, at: userLocation("profile", id))
        var settings = UserSettings()
        settings.loggingEnabled = try row["logging_enabled"]
        settings.retentionDays = try row["retention_days"]
        settings.voice = profile.voice
        settings.language = profile.language
        settings.timeZone = profile.timeZone
        settings.handle = profile.handle
        settings.reachableBy = try row["reachable_by"]
        settings.hasSeenOnboarding = try row["has_seen_onboarding"]
        settings.sharesPastSummaries = try row["shares_past_summaries"]
        settings.pushesSummaries = try row["pushes_summaries"]
        return try User(
            id: id, email: profile.email, settings: settings, createdAt: row["created_at"],
            isEmailConfirmed: row["email_confirmed_at"] as WallTime? != nil, tokenGeneration: row["token_generation"])
    }

    private static func insert(_ user: User, lookup: Data, password: PasswordHash?, in db: Transaction) throws {
        let id = user.id
        // The key's row references the user's row, and the profile is encrypted with the key: insert, create the key, then fill in.
        try db.execute(
            """
            INSERT INTO users (id, lookup, created_at, profile, logging_enabled, retention_days, has_seen_onboarding, shares_past_summaries)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            id, lookup, user.createdAt, Data(), user.settings.loggingEnabled, user.settings.retentionDays, user.settings.hasSeenOnboarding,
            user.settings.sharesPastSummaries)
        let key = try db.keychain.makeUserKey(for: id, in: db)
        try db.execute(
            "UPDATE users SET profile = ?, password = ? WHERE id = ?",
            try key.seal(Profile(user), at: userLocation("profile", id)),
            password.map { key.seal($0.text, at: userLocation("password", id)) }, id)
    }

    static func verify(_ v: Verification) throws {
        // Users without a key are being deleted and are meant to be unreadable.
        try v.each("users", "SELECT u.* FROM users u JOIN user_keys k ON k.user_id = u.id") { row in
            v.report.users += 1
            let id: UserID = try row["id"]
            let key = try v.db.key(of: id)
            try v.check {
                _ = try user(id, from: row, key)
                if let password = try row["password"] as Data? { _ = try key.openText(password, at: userLocation("password", id)) }
            }
            try Sessions.verify(id, key, v)
            try v.each("contacts of user \(id)", "SELECT position, entry FROM contacts WHERE user_id = ?", id) { row in
                _ = try key.open(row[1], as: Contact.self, at: contactLocation(id, row[0]))
            }
            try Calls.verify(id, key, v)
            try Conversations.verify(id, key, v)
        }
    }
}
