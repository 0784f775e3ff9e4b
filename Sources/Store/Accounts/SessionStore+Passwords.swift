internal import Foundation
internal import GRDB
package import Identity

/// Passwords and e-mail addresses of accounts: change, reset by a code, and confirmation by a code.
///
/// Requests for an address without an account hash and write like those for an address with one, so that neither the response nor its
/// timing reveals whether there is an account.
extension SessionStore {
    /// Replaces a password and revokes all tokens of the user.
    ///
    /// - Throws: `notFound`.
    package func changePassword(
        of id: UserID, from current: SecretText, to new: SecretText, at now: WallTime
    ) async throws(StoreError) -> PasswordChangeOutcome {
        let keychain = keychain
        let stored: (sealed: Data, hash: PasswordHash?)? = try await reading { db in
            let key = try keychain.userKey(of: id, in: db)
            guard let sealed = try Self.userRow(id, in: db)?["password"] as Data? else { return nil }
            return (sealed, PasswordHash(text: try key.openText(sealed, at: Self.userLocation("password", id))))
        }
        guard let stored else { return .noPassword }
        guard try await passwords.isRight(current, for: stored.hash) else { return .wrongPassword }
        let hash = try await passwords.hash(of: new)
        return try await writing { db in
            let known = try Data.fetchOne(db, sql: "SELECT password FROM users WHERE id = ?", arguments: [id.text])
            // Another request has changed it since.
            guard known == stored.sealed else { return .wrongPassword }
            try Self.setPassword(hash, of: id, keychain, in: db)
            return .changed
        }
    }

    /// Makes a code that resets the password of the account with this address. Does nothing if there is no account, or if a code was made
    /// within `StoreLimits.codeInterval`; the caller cannot distinguish the three cases.
    ///
    /// - Parameter webhooks: enqueued in the same commit.
    package func requestPasswordReset(
        email: String, webhooks: @escaping AccountCodeWebhooks, at now: WallTime
    ) async throws(StoreError) {
        let (keychain, code) = (keychain, AccountCode(.passwordReset, AccountCode.Text(), at: now))
        try await writing { db in
            try Self.countRequest(in: db)
            guard let id = try Self.userID(keychain.lookup(ofEmail: email), in: db) else { return }
            let user = try Self.user(id, try keychain.userKey(of: id, in: db), in: db)
            guard try Self.store(code, of: id, keychain, in: db, at: now) else { return }
            try Self.enqueue(webhooks(user, code), keychain, in: db, at: now)
        }
    }

    /// Sets a new password if the code is right, confirms the address, and revokes all tokens of the user.
    ///
    /// - Returns: nil for a wrong or expired code and for an unknown address.
    package func resetPassword(
        email: String, code: AccountCode.Text, to new: SecretText, at now: WallTime
    ) async throws(StoreError) -> UserID? {
        let hash = try await passwords.hash(of: new)
        let keychain = keychain
        return try await writing { db in
            try Self.countRequest(in: db)
            guard let id = try Self.userID(keychain.lookup(ofEmail: email), in: db),
                try Self.redeem(code, for: .passwordReset, of: id, keychain, in: db, at: now)
            else { return nil }
            try Self.setPassword(hash, of: id, keychain, in: db)
            try Self.confirmEmail(of: id, in: db, at: now)
            return id
        }
    }

    /// Makes a code that confirms the user's address.
    ///
    /// - Parameter webhooks: enqueued in the same commit.
    /// - Throws: `notFound`.
    package func requestEmailConfirmation(
        of id: UserID, webhooks: @escaping AccountCodeWebhooks, at now: WallTime
    ) async throws(StoreError) -> CodeRequestOutcome {
        let (keychain, code) = (keychain, AccountCode(.emailConfirmation, AccountCode.Text(), at: now))
        return try await writing { db in
            let user = try Self.user(id, try keychain.userKey(of: id, in: db), in: db)
            let hasPassword = try Self.userRow(id, in: db)?["password"] as Data? != nil
            guard hasPassword, !user.isEmailConfirmed else { return .notNeeded }
            guard try Self.store(code, of: id, keychain, in: db, at: now) else { return .tooSoon }
            try Self.enqueue(webhooks(user, code), keychain, in: db, at: now)
            return .sent
        }
    }

    /// - Returns: the user, nil for a wrong or expired code.
    /// - Throws: `notFound`.
    package func confirmEmail(of id: UserID, code: AccountCode.Text, at now: WallTime) async throws(StoreError) -> User? {
        let keychain = keychain
        return try await writing { db in
            let key = try keychain.userKey(of: id, in: db)
            guard try Self.redeem(code, for: .emailConfirmation, of: id, keychain, in: db, at: now) else { return nil }
            try Self.confirmEmail(of: id, in: db, at: now)
            return try Self.user(id, key, in: db)
        }
    }
}

// MARK: - Rows

extension SessionStore {
    private static func countRequest(in db: Database) throws {
        try db.execute(sql: "UPDATE account_requests SET count = count + 1")
    }

    /// Stores a code in place of an earlier one.
    ///
    /// - Returns: false if the earlier one is too recent.
    static func store(_ code: AccountCode, of user: UserID, _ keychain: Keychain, in db: Database, at now: WallTime) throws -> Bool {
        let recent = (now - StoreLimits.codeInterval).milliseconds
        try db.execute(
            sql: """
                INSERT INTO account_codes (user_id, purpose, code, made_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
                ON CONFLICT DO UPDATE SET code = ?3, made_at = ?4, expires_at = ?5, failures = 0 WHERE made_at <= ?6
                """,
            arguments: [
                user.text, code.purpose.rawValue, keychain.lookup(code.text, for: code.purpose, of: user), now.milliseconds,
                code.expiresAt.milliseconds, recent,
            ])
        return db.changesCount == 1
    }

    /// Deletes a code that is right. A wrong one counts as a failure.
    private static func redeem(
        _ code: AccountCode.Text, for purpose: AccountCode.Purpose, of user: UserID, _ keychain: Keychain, in db: Database,
        at now: WallTime
    ) throws -> Bool {
        let row = try Row.fetchOne(
            db, sql: "SELECT code FROM account_codes WHERE user_id = ? AND purpose = ? AND expires_at > ? AND failures < ?",
            arguments: [user.text, purpose.rawValue, now.milliseconds, StoreLimits.codeFailuresMax])
        guard let row else { return false }
        let isRight = areEqualInConstantTime([UInt8](row[0] as Data), [UInt8](keychain.lookup(code, for: purpose, of: user)))
        try db.execute(
            sql: isRight
                ? "DELETE FROM account_codes WHERE user_id = ? AND purpose = ?"
                : "UPDATE account_codes SET failures = failures + 1 WHERE user_id = ? AND purpose = ?",
            arguments: [user.text, purpose.rawValue])
        return isRight
    }

    private static func setPassword(_ hash: PasswordHash, of id: UserID, _ keychain: Keychain, in db: Database) throws {
        let key = try keychain.userKey(of: id, in: db)
        try db.execute(
            sql: "UPDATE users SET password = ?, token_generation = token_generation + 1 WHERE id = ?",
            arguments: [key.seal(hash.text, at: userLocation("password", id)), id.text])
        try db.execute(sql: "DELETE FROM refresh_families WHERE user_id = ?", arguments: [id.text])
        try db.execute(
            sql: "DELETE FROM account_codes WHERE user_id = ? AND purpose = ?",
            arguments: [id.text, AccountCode.Purpose.passwordReset.rawValue])
    }

    private static func confirmEmail(of id: UserID, in db: Database, at now: WallTime) throws {
        try db.execute(
            sql: "UPDATE users SET email_confirmed_at = coalesce(email_confirmed_at, ?) WHERE id = ?",
            arguments: [now.milliseconds, id.text])
    }
}

extension Keychain {
    fileprivate func lookup(_ code: AccountCode.Text, for purpose: AccountCode.Purpose, of user: UserID) -> Data {
        Data(lookup(user.text, code.characters, purpose: purpose.rawValue))
    }
}
