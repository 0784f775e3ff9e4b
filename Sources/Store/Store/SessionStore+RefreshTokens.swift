internal import Foundation
internal import GRDB
internal import Identity
internal import Wire

/// A token is the name of its family (16 bytes) and a secret (32 bytes). A family is what comes from one login: each renewal gives it another secret,
/// and one row stays one row. Who knows the family's name and not its present secret has an older token of it.
extension SessionStore {
    private static let nameCount = 16
    private static let secretCount = 32

    /// A family's first token.
    package func makeRefreshToken(
        for user: UserID, lasting lifetime: Duration, at now: WallTime
    ) async throws(StoreError) -> RefreshToken {
        let (name, secret, keychain) = (randomBytes(Self.nameCount), randomBytes(Self.secretCount), keychain)
        return try await writing { db in
            _ = try keychain.userKey(of: user, in: db)
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
            return RefreshToken(text: Base64.urlSafe.encode(name + secret), userID: user, expiresAt: expiresAt)
        }
    }

    /// Gives another token for this one, which is worth nothing from then on.
    package func renew(_ token: String, lasting lifetime: Duration, at now: WallTime) async throws(StoreError) -> RefreshAnswer {
        guard let (name, secret) = Self.parts(of: token) else { return .unknown }
        let next = randomBytes(Self.secretCount)
        return try await writing { db in
            let id = Data(SHA2.digest(of: name))
            guard
                let row = try Row.fetchOne(
                    db, sql: "SELECT user_id, secret FROM refresh_families WHERE id = ? AND expires_at > ?",
                    arguments: [id, now.milliseconds]),
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
            return .renewed(RefreshToken(text: Base64.urlSafe.encode(name + next), userID: user, expiresAt: expiresAt))
        }
    }

    /// Revokes the token's family. What is unknown is as good as logged out.
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
