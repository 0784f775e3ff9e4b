internal import Foundation
internal import Identity
internal import Wire

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
