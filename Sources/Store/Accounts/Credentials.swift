internal import Foundation
package import Identity

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
