internal import Foundation
internal import GRDB
package import Identity
internal import Wire

extension SessionStore {
    /// Creates an account. The password is hashed even if the address is taken, so that timing reveals nothing.
    ///
    /// - Parameter webhooks: if given, a code that confirms the address is made, and these are enqueued.
    /// - Throws: `emailTaken`; addresses are compared case-insensitively.
    package func createUser(
        email: String, password: SecretText, confirmedBy webhooks: AccountCodeWebhooks? = nil, at now: WallTime
    ) async throws(StoreError) -> User {
        let hash = try await passwords.hash(of: password)
        let (keychain, code) = (keychain, AccountCode.Text())
        return try await writing { db in
            let lookup = keychain.lookup(ofEmail: email)
            guard try Self.userID(lookup, in: db) == nil else { throw StoreError.emailTaken }
            let user = User(id: UserID(), email: email, settings: UserSettings(), createdAt: now)
            try Self.insert(user, lookup: lookup, password: hash, keychain, in: db)
            if let webhooks {
                let made = AccountCode(.emailConfirmation, code, at: now)
                _ = try Self.store(made, of: user.id, keychain, in: db, at: now)
                try Self.enqueue(webhooks(user, made), keychain, in: db, at: now)
            }
            return user
        }
    }

    /// The user with this e-mail and password; nil for a wrong password and for an unknown address, after the same time.
    package func user(email: String, password: SecretText) async throws(StoreError) -> User? {
        let keychain = keychain
        let found: (user: User, hash: PasswordHash?)? = try await reading { db in
            guard let id = try Self.userID(keychain.lookup(ofEmail: email), in: db) else { return nil }
            let key = try keychain.userKey(of: id, in: db)
            guard let row = try Self.userRow(id, in: db) else { return nil }
            guard let sealed = row["password"] as Data? else { return nil }
            let text = try key.openText(sealed, at: Self.userLocation("password", id))
            return (try Self.user(id, from: row, key), PasswordHash(text: text))
        }
        return try await passwords.isRight(password, for: found?.hash) ? found?.user : nil
    }

    /// The user that an external issuer calls `subject`, created on first sight.
    package func user(issuer: String, subject: String, email: String?, at now: WallTime) async throws(StoreError) -> User {
        let keychain = keychain
        let lookup = keychain.lookup(issuer, subject, purpose: "subject")
        // Known users, nearly all, need no write.
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
        return try await reading { db in try Self.user(id, try keychain.userKey(of: id, in: db), in: db) }
    }

    /// The state that decides whether a user's tokens are accepted; nil if the user does not exist or is being deleted, that is, has no
    /// key.
    package func standing(of id: UserID) async throws(StoreError) -> UserStanding? {
        try await reading { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT token_generation, password IS NOT NULL AND email_confirmed_at IS NULL FROM users
                    WHERE id = ?1 AND EXISTS (SELECT 1 FROM user_keys WHERE user_id = ?1)
                    """)
            return try Row.fetchOne(statement, arguments: [id.text]).map {
                UserStanding(tokenGeneration: $0[0], isUnconfirmed: $0[1])
            }
        }
    }

    /// Those of `ids` that exist and are not being deleted.
    package func known(among ids: [UserID]) async throws(StoreError) -> Set<UserID> {
        try await reading { db in
            let statement = try db.cachedStatement(sql: "SELECT 1 FROM user_keys WHERE user_id = ?")
            return try Set(ids.filter { try Bool.fetchOne(statement, arguments: [$0.text]) ?? false })
        }
    }

    /// For operators only: users cannot look each other up by address.
    package func user(email: String) async throws(StoreError) -> User {
        let keychain = keychain
        let id = try await reading { db in try Self.userID(keychain.lookup(ofEmail: email), in: db) }
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
        let keychain = keychain
        return try await writing { db in
            let key = try keychain.userKey(of: id, in: db)
            var user = try Self.user(id, key, in: db)
            change(&user.settings)
            try user.settings.check()
            let handle = user.settings.handle.map(keychain.lookup(ofHandle:))
            let isTaken = try Bool.fetchOne(db, sql: "SELECT 1 FROM users WHERE handle = ? AND id <> ?", arguments: [handle, id.text])
            guard isTaken == nil else { throw StoreError.handleTaken }
            try db.execute(
                sql: """
                    UPDATE users SET profile = ?, logging_enabled = ?, retention_days = ?, has_seen_onboarding = ?, shares_past_summaries = ?,
                        reachable_by = ?, handle = ? WHERE id = ?
                    """,
                arguments: [
                    try key.seal(Profile(user), at: Self.userLocation("profile", id)), user.settings.loggingEnabled,
                    user.settings.retentionDays,
                    user.settings.hasSeenOnboarding, user.settings.sharesPastSummaries,
                    user.settings.reachableBy.rawValue, handle, id.text,
                ])
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
    func lookup(ofEmail email: String) -> [UInt8] {
        lookup(email.precomposedStringWithCanonicalMapping.lowercased(), purpose: "email")
    }
}

extension SessionStore {
    static func userLocation(_ column: String, _ id: UserID) -> String { "users.\(column).\(id)" }

    static func userID(_ lookup: [UInt8], in db: Database) throws -> UserID? {
        let statement = try db.cachedStatement(sql: "SELECT id FROM users WHERE lookup = ?")
        return try String.fetchOne(statement, arguments: [Data(lookup)]).flatMap(UserID.init(text:))
    }

    static func userRow(_ id: UserID, in db: Database) throws -> Row? {
        try Row.fetchOne(try db.cachedStatement(sql: "SELECT * FROM users WHERE id = ?"), arguments: [id.text])
    }

    static func user(_ id: UserID, _ key: SealingKey, in db: Database) throws -> User {
        guard let row = try userRow(id, in: db) else { throw StoreError.notFound }
        return try user(id, from: row, key)
    }

    private static func user(_ id: UserID, from row: Row, _ key: SealingKey) throws -> User {
        let profile = try key.open(row["profile"], as: Profile.self, at: userLocation("profile", id))
        var settings = UserSettings()
        settings.loggingEnabled = row["logging_enabled"]
        settings.retentionDays = row["retention_days"]
        settings.voice = profile.voice
        settings.language = profile.language
        settings.timeZone = profile.timeZone
        settings.handle = profile.handle
        settings.reachableBy = ReachableBy(rawValue: row["reachable_by"]) ?? .nobody
        settings.hasSeenOnboarding = row["has_seen_onboarding"]
        settings.sharesPastSummaries = row["shares_past_summaries"]
        return User(
            id: id, email: profile.email, settings: settings, createdAt: WallTime(milliseconds: row["created_at"]),
            isEmailConfirmed: row["email_confirmed_at"] as Int64? != nil, tokenGeneration: row["token_generation"])
    }

    private static func insert(
        _ user: User, lookup: [UInt8], password: PasswordHash?, _ keychain: Keychain, in db: Database
    ) throws {
        let id = user.id
        // The key's row references the user's row, and the profile is encrypted with the key: insert, create the key, then fill in.
        try db.execute(
            sql: """
                INSERT INTO users (id, lookup, created_at, profile, logging_enabled, retention_days, has_seen_onboarding, shares_past_summaries)
                VALUES (?, ?, ?, x'', ?, ?, ?, ?)
                """,
            arguments: [
                id.text, Data(lookup), user.createdAt.milliseconds, user.settings.loggingEnabled, user.settings.retentionDays,
                user.settings.hasSeenOnboarding, user.settings.sharesPastSummaries,
            ])
        let key = try keychain.makeUserKey(for: id, in: db)
        try db.execute(
            sql: "UPDATE users SET profile = ?, password = ? WHERE id = ?",
            arguments: [
                try key.seal(Profile(user), at: userLocation("profile", id)),
                password.map { key.seal($0.text, at: userLocation("password", id)) }, id.text,
            ])
    }

    /// Used by `verify`: decrypts everything in a user's row.
    static func checkUser(_ id: UserID, from row: Row, _ key: SealingKey) throws {
        _ = try user(id, from: row, key)
        if let password = row["password"] as Data? { _ = try key.openText(password, at: userLocation("password", id)) }
    }
}

/// Refresh tokens. A token is its family's name (16 bytes) and a secret (32 bytes). A family starts at a login and has one row; each
/// renewal replaces its secret. A token with the right name and an old secret was used before.
extension SessionStore {
    private static let nameCount = 16
    private static let secretCount = 32

    /// Creates a family and returns its first token.
    ///
    /// - Parameter generation: if given, the user's token generation when its password was checked.
    /// - Throws: `notFound` if there is no such user, or the password has been changed since that generation.
    package func makeRefreshToken(
        for user: UserID, since generation: Int? = nil, lasting lifetime: Duration, at now: WallTime
    ) async throws(StoreError) -> RefreshToken {
        let (name, secret, keychain) = (randomBytes(Self.nameCount), randomBytes(Self.secretCount), keychain)
        return try await writing { db in
            _ = try keychain.userKey(of: user, in: db)
            let current = try Int.fetchOne(db, sql: "SELECT token_generation FROM users WHERE id = ?", arguments: [user.text])
            guard let current, generation == nil || generation == current else { throw StoreError.notFound }
            let expiresAt = now + lifetime
            try db.execute(
                sql: "INSERT INTO refresh_families VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    Data(SHA2.digest(of: name)), user.text, Data(SHA2.digest(of: secret)), now.milliseconds, expiresAt.milliseconds,
                ])
            try db.execute(
                sql: """
                    DELETE FROM refresh_families WHERE id IN (
                        SELECT id FROM refresh_families WHERE user_id = ? ORDER BY renewed_at DESC, id LIMIT -1 OFFSET ?)
                    """,
                arguments: [user.text, StoreLimits.familiesPerUserMax])
            return RefreshToken(
                text: Base64.urlSafe.encode(name + secret), userID: user, expiresAt: expiresAt, tokenGeneration: current)
        }
    }

    /// Exchanges a token for a new one and invalidates it.
    package func renew(_ token: String, lasting lifetime: Duration, at now: WallTime) async throws(StoreError) -> RefreshAnswer {
        guard let (name, secret) = Self.parts(of: token) else { return .unknown }
        let next = randomBytes(Self.secretCount)
        return try await writing { db in
            let id = Data(SHA2.digest(of: name))
            guard
                let row = try Row.fetchOne(
                    db,
                    sql: """
                        SELECT f.user_id, f.secret, u.token_generation FROM refresh_families f JOIN users u ON u.id = f.user_id
                        WHERE f.id = ? AND f.expires_at > ?
                        """, arguments: [id, now.milliseconds]),
                let user = UserID(text: row["user_id"])
            else { return .unknown }
            guard areEqualInConstantTime(SHA2.digest(of: secret), Array(row["secret"] as Data)) else {
                try db.execute(sql: "DELETE FROM refresh_families WHERE id = ?", arguments: [id])
                return .reused(user)
            }
            let expiresAt = now + lifetime
            try db.execute(
                sql: "UPDATE refresh_families SET secret = ?, renewed_at = ?, expires_at = ? WHERE id = ?",
                arguments: [Data(SHA2.digest(of: next)), now.milliseconds, expiresAt.milliseconds, id])
            return .renewed(
                RefreshToken(
                    text: Base64.urlSafe.encode(name + next), userID: user, expiresAt: expiresAt, tokenGeneration: row["token_generation"]))
        }
    }

    /// Revokes the token's family. Unknown tokens are ignored.
    package func logOut(_ token: String) async throws(StoreError) {
        guard let (name, _) = Self.parts(of: token) else { return }
        try await writing { db in
            try db.execute(sql: "DELETE FROM refresh_families WHERE id = ?", arguments: [Data(SHA2.digest(of: name))])
        }
    }

    /// Revokes every family of a user.
    package func logOutEverywhere(_ user: UserID) async throws(StoreError) {
        try await writing { db in try db.execute(sql: "DELETE FROM refresh_families WHERE user_id = ?", arguments: [user.text]) }
    }

    private static func parts(of token: String) -> (name: [UInt8], secret: [UInt8])? {
        guard let bytes = Base64.urlSafe.decode(token.utf8), bytes.count == nameCount + secretCount else { return nil }
        return (Array(bytes.prefix(nameCount)), Array(bytes.suffix(secretCount)))
    }
}
