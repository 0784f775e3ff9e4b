internal import Foundation
internal import GRDB
package import Identity

extension SessionStore {
    /// Makes an account. The password is hashed whether the address has one already or not.
    ///
    /// - Throws: `emailTaken`; addresses that differ in case only are the same.
    package func createUser(email: String, password: SecretText, at now: WallTime) async throws(StoreError) -> User {
        let hash = try await passwords.hash(of: password)
        let keychain = keychain
        return try await writing { db in
            let lookup = keychain.lookup(ofEmail: email)
            guard try Self.userID(lookup, in: db) == nil else { throw StoreError.emailTaken }
            let user = User(id: UserID(), email: email, settings: UserSettings(), createdAt: now)
            try Self.insert(user, lookup: lookup, password: hash, self.keychain, in: db)
            return user
        }
    }

    /// Who has this e-mail and password; nil for a wrong password as for an unknown address, after the same time.
    package func user(email: String, password: SecretText) async throws(StoreError) -> User? {
        let keychain = keychain
        let found: (user: User, hash: PasswordHash?)? = try await reading { db in
            guard let id = try Self.userID(keychain.lookup(ofEmail: email), in: db) else { return nil }
            let key = try keychain.userKey(of: id, in: db)
            guard let row = try Self.userRow(id, in: db) else { return nil }
            guard let sealed = row["password"] as Data? else { return nil }
            let text = try key.openText(sealed, at: Self.userPlace("password", id))
            return (try Self.user(id, from: row, key), PasswordHash(text: text))
        }
        return try await passwords.isRight(password, for: found?.hash) ? found?.user : nil
    }

    /// The user whom an outside issuer calls `subject`, made on first sight.
    package func user(issuer: String, subject: String, email: String?, at now: WallTime) async throws(StoreError) -> User {
        let keychain = keychain
        let lookup = keychain.lookup(issuer, subject, purpose: "subject")
        // Nearly always he is known, and then nothing waits for the disk.
        let known: User? = try await reading { db in
            guard let id = try Self.userID(lookup, in: db), let row = try Self.userRow(id, in: db) else { return nil }
            return try Self.user(id, from: row, try keychain.userKey(of: id, in: db))
        }
        if let known { return known }
        return try await writing { db in
            if let id = try Self.userID(lookup, in: db), let row = try Self.userRow(id, in: db) {
                return try Self.user(id, from: row, try keychain.userKey(of: id, in: db))
            }
            let user = User(id: UserID(), email: email, settings: UserSettings(), createdAt: now)
            try Self.insert(user, lookup: lookup, password: nil, self.keychain, in: db)
            return user
        }
    }

    /// - Throws: `notFound`.
    package func user(_ id: UserID) async throws(StoreError) -> User {
        let keychain = keychain
        return try await reading { db in
            let key = try keychain.userKey(of: id, in: db)
            guard let row = try Self.userRow(id, in: db) else { throw StoreError.notFound }
            return try Self.user(id, from: row, key)
        }
    }

    /// Whether there is such a user, and he is not being deleted: as long as he has a key.
    package func isKnown(_ id: UserID) async throws(StoreError) -> Bool {
        try await reading { db in
            let statement = try db.cachedStatement(sql: "SELECT 1 FROM user_keys WHERE user_id = ?")
            return try Bool.fetchOne(statement, arguments: [id.text]) ?? false
        }
    }

    /// - Throws: `notFound`. For the operator: no user finds another by address.
    package func user(email: String) async throws(StoreError) -> User {
        let keychain = keychain
        let id = try await reading { db in try Self.userID(keychain.lookup(ofEmail: email), in: db) }
        guard let id else { throw .notFound }
        return try await user(id)
    }

    /// Changes settings in one step, so that of two changes at once neither is lost.
    ///
    /// - Parameter change: may be called twice.
    /// - Throws: `notFound`, `refused` for days outside `UserSettings.retentionDaysRange`.
    package func updateSettings(
        of id: UserID, _ change: @escaping @Sendable (inout UserSettings) -> Void
    ) async throws(StoreError) -> User {
        let keychain = keychain
        return try await writing { db in
            let key = try keychain.userKey(of: id, in: db)
            guard let row = try Self.userRow(id, in: db) else { throw StoreError.notFound }
            var user = try Self.user(id, from: row, key)
            change(&user.settings)
            guard UserSettings.retentionDaysRange ~= user.settings.retentionDays else {
                throw StoreError.refused("Conversations are kept for 7 to 365 days.")
            }
            try db.execute(
                sql: """
                    UPDATE users SET profile = ?, logging_enabled = ?, retention_days = ?, has_seen_onboarding = ?, shares_past_summaries = ?
                    WHERE id = ?
                    """,
                arguments: [
                    try key.seal(Profile(user), at: Self.userPlace("profile", id)), user.settings.loggingEnabled,
                    user.settings.retentionDays,
                    user.settings.hasSeenOnboarding, user.settings.sharesPastSummaries, id.text,
                ])
            return user
        }
    }
}

// MARK: - Rows

/// What of a user is sealed.
private struct Profile: Codable {
    var email: String?
    var voice: String?

    init(_ user: User) {
        email = user.email
        voice = user.settings.voice
    }
}

extension Keychain {
    func lookup(ofEmail email: String) -> [UInt8] {
        lookup(email.precomposedStringWithCanonicalMapping.lowercased(), purpose: "email")
    }
}

extension SessionStore {
    private static func userPlace(_ column: String, _ id: UserID) -> String { "users.\(column).\(id)" }

    private static func userID(_ lookup: [UInt8], in db: Database) throws -> UserID? {
        let statement = try db.cachedStatement(sql: "SELECT id FROM users WHERE lookup = ?")
        return try String.fetchOne(statement, arguments: [Data(lookup)]).flatMap(UserID.init(text:))
    }

    private static func userRow(_ id: UserID, in db: Database) throws -> Row? {
        try Row.fetchOne(try db.cachedStatement(sql: "SELECT * FROM users WHERE id = ?"), arguments: [id.text])
    }

    private static func user(_ id: UserID, from row: Row, _ key: SealingKey) throws -> User {
        let profile = try key.open(row["profile"], as: Profile.self, at: userPlace("profile", id))
        var settings = UserSettings()
        settings.loggingEnabled = row["logging_enabled"]
        settings.retentionDays = row["retention_days"]
        settings.voice = profile.voice
        settings.hasSeenOnboarding = row["has_seen_onboarding"]
        settings.sharesPastSummaries = row["shares_past_summaries"]
        return User(id: id, email: profile.email, settings: settings, createdAt: WallTime(milliseconds: row["created_at"]))
    }

    private static func insert(
        _ user: User, lookup: [UInt8], password: PasswordHash?, _ keychain: Keychain, in db: Database
    ) throws {
        let id = user.id
        // The key's row refers to the user's, which is not there yet; what is sealed in it needs the key.
        try db.execute(
            sql: "INSERT INTO users VALUES (?, ?, ?, x'', NULL, ?, ?, ?, ?)",
            arguments: [
                id.text, Data(lookup), user.createdAt.milliseconds, user.settings.loggingEnabled, user.settings.retentionDays,
                user.settings.hasSeenOnboarding, user.settings.sharesPastSummaries,
            ])
        let key = try keychain.makeUserKey(for: id, in: db)
        try db.execute(
            sql: "UPDATE users SET profile = ?, password = ? WHERE id = ?",
            arguments: [
                try key.seal(Profile(user), at: userPlace("profile", id)),
                password.map { key.seal($0.text, at: userPlace("password", id)) }, id.text,
            ])
    }

    /// For `verify`: whether all that is sealed in a user's row opens.
    static func checkUser(_ id: UserID, from row: Row, _ key: SealingKey) throws {
        _ = try user(id, from: row, key)
        if let password = row["password"] as Data? { _ = try key.openText(password, at: userPlace("password", id)) }
    }
}
