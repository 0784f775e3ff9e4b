internal import Foundation
package import Identity
internal import Synchronization
internal import Wire

/// Passwords and e-mail addresses of accounts: change, reset by a code, and confirmation by a code.
///
/// Requests for an address without an account hash and write like those for an address with one, so that neither the response nor its
/// timing reveals whether there is an account.
extension Accounts {
    /// Replaces a password and revokes all tokens of the user.
    package func changePassword(
        of id: UserID, from current: SecretText, to new: SecretText, at now: WallTime
    ) async throws(StoreError) -> PasswordChangeOutcome {
        let stored: (sealed: Data, hash: PasswordHash?)? = try await database.read { db in
            let key = try db.key(of: id)
            guard let sealed = try Self.userRow(id, in: db)?["password"] as Data? else { return nil }
            return (sealed, PasswordHash(text: try key.openText(sealed, at: Self.userLocation("password", id))))
        }
        guard let stored else { return .noPassword }
        guard try await passwords.isRight(current, for: stored.hash) else { return .wrongPassword }
        let hash = try await passwords.hash(of: new)
        return try await database.write { db in
            let known = try db.value(Data.self, "SELECT password FROM users WHERE id = ?", id)
            // Another request has changed it since.
            guard known == stored.sealed else { return .wrongPassword }
            try Self.setPassword(hash, of: id, in: db)
            return .changed
        }
    }

    /// Makes a code that resets the password of the account with this address. Does nothing if there is no account, or if a code was made
    /// within `StoreLimits.codeInterval`; the caller cannot distinguish the three cases.
    ///
    /// - Parameter webhooks: enqueued in the same commit.
    package func requestPasswordReset(email: String, webhooks: @escaping AccountCodeWebhooks, at now: WallTime) async throws(StoreError) {
        let code = AccountCode(.passwordReset, AccountCode.Text(), at: now)
        try await database.write { db in
            try Self.countRequest(in: db)
            guard let id = try Self.userID(db.keychain.lookup(ofEmail: email), in: db) else { return }
            let user = try Self.user(id, try db.key(of: id), in: db)
            guard try Self.store(code, of: id, in: db, at: now) else { return }
            try Webhooks.enqueue(webhooks(user, code), in: db, at: now)
        }
    }

    /// Sets a new password if the code is right, confirms the address, and revokes all tokens of the user.
    ///
    /// - Returns: nil for a wrong or expired code and for an unknown address.
    package func resetPassword(
        email: String, code: AccountCode.Text, to new: SecretText, at now: WallTime
    ) async throws(StoreError) -> UserID? {
        let hash = try await passwords.hash(of: new)
        return try await database.write { db in
            try Self.countRequest(in: db)
            guard let id = try Self.userID(db.keychain.lookup(ofEmail: email), in: db),
                try Self.redeem(code, for: .passwordReset, of: id, in: db, at: now)
            else { return nil }
            try Self.setPassword(hash, of: id, in: db)
            try Self.confirmEmail(of: id, in: db, at: now)
            return id
        }
    }

    /// Makes a code that confirms the user's address.
    ///
    /// - Parameter webhooks: enqueued in the same commit.
    package func requestEmailConfirmation(
        of id: UserID, webhooks: @escaping AccountCodeWebhooks, at now: WallTime
    ) async throws(StoreError) -> CodeRequestOutcome {
        let code = AccountCode(.emailConfirmation, AccountCode.Text(), at: now)
        return try await database.write { db in
            let user = try Self.user(id, try db.key(of: id), in: db)
            let hasPassword = try Self.userRow(id, in: db)?["password"] as Data? != nil
            guard hasPassword, !user.isEmailConfirmed else { return .notNeeded }
            guard try Self.store(code, of: id, in: db, at: now) else { return .tooSoon }
            try Webhooks.enqueue(webhooks(user, code), in: db, at: now)
            return .sent
        }
    }

    /// - Returns: the user, nil for a wrong or expired code.
    package func confirmEmail(of id: UserID, code: AccountCode.Text, at now: WallTime) async throws(StoreError) -> User? {
        try await database.write { db in
            let key = try db.key(of: id)
            guard try Self.redeem(code, for: .emailConfirmation, of: id, in: db, at: now) else { return nil }
            try Self.confirmEmail(of: id, in: db, at: now)
            return try Self.user(id, key, in: db)
        }
    }

    // MARK: - Rows

    private static func countRequest(in db: Transaction) throws { try db.execute("UPDATE account_requests SET count = count + 1") }

    /// Stores a code in place of an earlier one.
    ///
    /// - Returns: false if the earlier one is too recent.
    static func store(_ code: AccountCode, of user: UserID, in db: Transaction, at now: WallTime) throws -> Bool {
        try db.execute(
            """
            INSERT INTO account_codes (user_id, purpose, code, made_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (user_id, purpose) DO UPDATE SET code = ?3, made_at = ?4, expires_at = ?5, failures = 0
            WHERE account_codes.made_at <= ?6
            """, user, code.purpose, db.keychain.lookup(code.text, for: code.purpose, of: user), now, code.expiresAt,
            now - StoreLimits.codeInterval) == 1
    }

    /// Deletes a code that is right. A wrong one counts as a failure.
    private static func redeem(
        _ code: AccountCode.Text, for purpose: AccountCode.Purpose, of user: UserID, in db: Transaction, at now: WallTime
    ) throws -> Bool {
        let stored = try db.value(
            Data.self, "SELECT code FROM account_codes WHERE user_id = ? AND purpose = ? AND expires_at > ? AND failures < ?",
            user, purpose, now, StoreLimits.codeFailuresMax)
        guard let stored else { return false }
        let isRight = areEqualInConstantTime(Array(stored), Array(db.keychain.lookup(code, for: purpose, of: user)))
        try db.execute(
            isRight
                ? "DELETE FROM account_codes WHERE user_id = ? AND purpose = ?"
                : "UPDATE account_codes SET failures = failures + 1 WHERE user_id = ? AND purpose = ?",
            user, purpose)
        return isRight
    }

    private static func setPassword(_ hash: PasswordHash, of id: UserID, in db: Transaction) throws {
        let key = try db.key(of: id)
        try db.execute(
            "UPDATE users SET password = ?, token_generation = token_generation + 1 WHERE id = ?",
            key.seal(hash.text, at: userLocation("password", id)), id)
        try db.execute("DELETE FROM refresh_families WHERE user_id = ?", id)
        // A lost phone must neither ring nor show summaries. Apps register their devices again when they log in.
        try Calls.removePushDevices(of: id, in: db)
        try db.execute("DELETE FROM account_codes WHERE user_id = ? AND purpose = ?", id, AccountCode.Purpose.passwordReset)
    }

    private static func confirmEmail(of id: UserID, in db: Transaction, at now: WallTime) throws {
        try db.execute("UPDATE users SET email_confirmed_at = coalesce(email_confirmed_at, ?) WHERE id = ?", now, id)
    }
}

extension Keychain {
    fileprivate func lookup(_ code: AccountCode.Text, for purpose: AccountCode.Purpose, of user: UserID) -> Data {
        lookup(user.text, code.characters, purpose: purpose.rawValue)
    }
}

/// Refresh tokens. A token is its family's name (16 bytes) and a secret (32 bytes). A family starts at a login and has one row; each
/// renewal replaces its secret. A token with the right name and an old secret was used before.
extension Accounts {
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
        return try await database.write { db in
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
                    SELECT id FROM refresh_families WHERE user_id = ? ORDER BY renewed_at DESC, id LIMIT ? OFFSET ?)
                """, user, Int.max, StoreLimits.familiesPerUserMax)
            return RefreshToken(
                text: Base64.urlSafe.encode(name + secret), userID: user, expiresAt: expiresAt, tokenGeneration: current)
        }
    }

    /// Exchanges a token for a new one and invalidates it.
    package func renew(_ token: String, lasting lifetime: Duration, at now: WallTime) async throws(StoreError) -> RefreshAnswer {
        guard let (name, secret) = Self.parts(of: token) else { return .unknown }
        let next = randomBytes(Self.secretCount)
        return try await database.write { db in
            let id = Data(SHA2.digest(of: name))
            let row = try db.one(
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
        try await database.delete { db in try db.execute("DELETE FROM refresh_families WHERE id = ?", Data(SHA2.digest(of: name))) }
    }

    private static func parts(of token: String) -> (name: [UInt8], secret: [UInt8])? {
        guard let bytes = Base64.urlSafe.decode(token.utf8), bytes.count == nameCount + secretCount else { return nil }
        return (Array(bytes.prefix(nameCount)), Array(bytes.suffix(secretCount)))
    }
}

/// Hashes passwords on a queue of its own with limited concurrency: each takes a tenth of a second and 32 MiB.
final class PasswordHasher: Sendable {
    private let cost: PasswordHash.Cost
    /// Compared with the passwords of unknown users, so that they take as long as those of known ones.
    private let nobody: PasswordHash
    private let workers: OperationQueue
    private let waiting = Mutex(0)

    init(cost: PasswordHash.Cost) {
        self.cost = cost
        nobody = PasswordHash(of: SecretText(Base64.urlSafe.encode(randomBytes(16))), cost: cost)
        workers = OperationQueue()
        workers.name = "passwords"
        workers.maxConcurrentOperationCount = StoreLimits.passwordsAtOnceMax
    }

    func hash(of password: SecretText) async throws(StoreError) -> PasswordHash {
        let cost = cost
        return try await inTurn { PasswordHash(of: password, cost: cost) }
    }

    /// - Parameter hash: nil for an unknown user, whose password never matches.
    func isRight(_ password: SecretText, for hash: PasswordHash?) async throws(StoreError) -> Bool {
        let nobody = nobody
        return try await inTurn { (hash ?? nobody).matches(password) && hash != nil }
    }

    private func inTurn<T: Sendable>(_ work: @escaping @Sendable () -> T) async throws(StoreError) -> T {
        let isAccepted = waiting.withLock { waiting in
            guard waiting < StoreLimits.passwordsWaitingMax else { return false }
            waiting += 1
            return true
        }
        guard isAccepted else { throw .busy }
        defer { waiting.withLock { $0 -= 1 } }
        return await withCheckedContinuation { continuation in
            workers.addOperation { continuation.resume(returning: work()) }
        }
    }
}
