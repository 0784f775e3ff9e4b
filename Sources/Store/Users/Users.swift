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
        let code = AccountCode.Text()
        return try await writing { db in
            let lookup = db.keychain.lookup(ofEmail: email)
            guard try Self.userID(lookup, in: db) == nil else { throw StoreError.emailTaken }
            let user = User(id: UserID(), email: email, settings: UserSettings(), createdAt: now)
            try Self.insert(user, lookup: lookup, password: hash, in: db)
            if let webhooks {
                let made = AccountCode(.emailConfirmation, code, at: now)
                _ = try Self.store(made, of: user.id, in: db, at: now)
                try Self.enqueue(webhooks(user, made), in: db, at: now)
            }
            return user
        }
    }

    /// The user with this e-mail and password; nil for a wrong password and for an unknown address, after the same time.
    package func user(email: String, password: SecretText) async throws(StoreError) -> User? {
        let found: (user: User, hash: PasswordHash?)? = try await reading { db in
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
        let lookup = keychain.lookup(issuer, subject, purpose: "subject")
        // Known users, nearly all, need no write.
        let known: User? = try await reading { db in
            try Self.userID(lookup, in: db).map { try Self.user($0, try db.key(of: $0), in: db) }
        }
        if let known { return known }
        return try await writing { db in
            if let id = try Self.userID(lookup, in: db) { return try Self.user(id, try db.key(of: id), in: db) }
            let user = User(id: UserID(), email: email, settings: UserSettings(), createdAt: now)
            try Self.insert(user, lookup: lookup, password: nil, in: db)
            return user
        }
    }

    /// - Throws: `notFound`.
    package func user(_ id: UserID) async throws(StoreError) -> User {
        try await reading { db in try Self.user(id, try db.key(of: id), in: db) }
    }

    /// The state that decides whether a user's tokens are accepted; nil if the user does not exist or is being deleted, that is, has no
    /// key.
    package func standing(of id: UserID) async throws(StoreError) -> UserStanding? {
        try await reading { db in
            try db.row(
                """
                SELECT token_generation, password IS NOT NULL AND email_confirmed_at IS NULL FROM users
                WHERE id = ?1 AND EXISTS (SELECT 1 FROM user_keys WHERE user_id = ?1)
                """, id
            ).map { try UserStanding(tokenGeneration: $0[0], isUnconfirmed: $0[1]) }
        }
    }

    /// Those of `ids` that exist and are not being deleted.
    package func known(among ids: [UserID]) async throws(StoreError) -> Set<UserID> {
        try await reading { db in try Set(ids.filter { try db.has("SELECT 1 FROM user_keys WHERE user_id = ?", $0) }) }
    }

    /// For operators only: users cannot look each other up by address.
    package func user(email: String) async throws(StoreError) -> User {
        let id = try await reading { db in try Self.userID(db.keychain.lookup(ofEmail: email), in: db) }
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
        try await writing { db in
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
    func lookup(ofEmail email: String) -> Data {
        lookup(email.precomposedStringWithCanonicalMapping.lowercased(), purpose: "email")
    }
}

extension SessionStore {
    static func userLocation(_ column: String, _ id: UserID) -> String { "users.\(column).\(id)" }

    static func userID(_ lookup: Data, in db: Transaction) throws -> UserID? {
        try db.row("SELECT id FROM users WHERE lookup = ?", lookup).map { try $0["id"] }
    }

    static func userRow(_ id: UserID, in db: Transaction) throws -> Row? {
        try db.row("SELECT * FROM users WHERE id = ?", id)
    }

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
            VALUES (?, ?, ?, x'', ?, ?, ?, ?)
            """,
            id, lookup, user.createdAt, user.settings.loggingEnabled, user.settings.retentionDays, user.settings.hasSeenOnboarding,
            user.settings.sharesPastSummaries)
        let key = try db.keychain.makeUserKey(for: id, in: db.database)
        try db.execute(
            "UPDATE users SET profile = ?, password = ? WHERE id = ?",
            try key.seal(Profile(user), at: userLocation("profile", id)),
            password.map { key.seal($0.text, at: userLocation("password", id)) }, id)
    }

    /// Used by `verify`: decrypts everything in a user's row.
    static func checkUser(_ id: UserID, from row: Row, _ key: SealingKey) throws {
        _ = try user(id, from: row, key)
        if let password = try row["password"] as Data? { _ = try key.openText(password, at: userLocation("password", id)) }
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
        let (name, secret) = (randomBytes(Self.nameCount), randomBytes(Self.secretCount))
        return try await writing { db in
            _ = try db.key(of: user)
            let current = try db.value(Int.self, "SELECT token_generation FROM users WHERE id = ?", user)
            guard let current, generation == nil || generation == current else { throw StoreError.notFound }
            let expiresAt = now + lifetime
            try db.execute(
                "INSERT INTO refresh_families VALUES (?, ?, ?, ?, ?)",
                Data(SHA2.digest(of: name)), user, Data(SHA2.digest(of: secret)), now, expiresAt)
            try db.execute(
                """
                DELETE FROM refresh_families WHERE id IN (
                    SELECT id FROM refresh_families WHERE user_id = ? ORDER BY renewed_at DESC, id LIMIT -1 OFFSET ?)
                """, user, StoreLimits.familiesPerUserMax)
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
            let row = try db.row(
                """
                SELECT f.user_id, f.secret, u.token_generation FROM refresh_families f JOIN users u ON u.id = f.user_id
                WHERE f.id = ? AND f.expires_at > ?
                """, id, now)
            guard let row else { return .unknown }
            let user: UserID = try row["user_id"]
            guard try areEqualInConstantTime(SHA2.digest(of: secret), Array(row["secret"] as Data)) else {
                try db.execute("DELETE FROM refresh_families WHERE id = ?", id)
                return .reused(user)
            }
            let expiresAt = now + lifetime
            try db.execute(
                "UPDATE refresh_families SET secret = ?, renewed_at = ?, expires_at = ? WHERE id = ?",
                Data(SHA2.digest(of: next)), now, expiresAt, id)
            return try .renewed(
                RefreshToken(
                    text: Base64.urlSafe.encode(name + next), userID: user, expiresAt: expiresAt, tokenGeneration: row["token_generation"]))
        }
    }

    /// Revokes the token's family. Unknown tokens are ignored.
    package func logOut(_ token: String) async throws(StoreError) {
        guard let (name, _) = Self.parts(of: token) else { return }
        try await deleting { db in try db.execute("DELETE FROM refresh_families WHERE id = ?", Data(SHA2.digest(of: name))) }
    }

    private static func parts(of token: String) -> (name: [UInt8], secret: [UInt8])? {
        guard let bytes = Base64.urlSafe.decode(token.utf8), bytes.count == nameCount + secretCount else { return nil }
        return (Array(bytes.prefix(nameCount)), Array(bytes.suffix(secretCount)))
    }
}
