internal import Foundation
internal import Identity

/// The repository of speech clips. A clip is found by a keyed hash of its request and, unless a service has made it, of its user. Request,
/// details and audio are encrypted with the store's key, because services share clips, and an equal clip may get the same audio
/// (`spokenClip(_:)`).
package struct Clips: Sendable {
    let database: any Database

    /// The owner's clip for a request; nil if there is none.
    package func clip(for request: SpeechRequest, of owner: ClipOwner) async throws(StoreError) -> SpeechClip? {
        try await database.read { db in
            // A clip that services no longer use may still belong to a user, from earlier versions.
            let row = try db.one(
                "SELECT * FROM speech_clips WHERE lookup = ? AND (? = 1 OR is_shared = 1)", db.keychain.lookup(request, of: owner),
                owner.user != nil)
            return try row.map { try Self.clip(from: $0, in: db) }
        }
    }

    /// Returns a page of the clips that an owner has requested, newest first: a user's own, or those that services share.
    ///
    /// - Parameter limit: 1 to `StoreLimits.linesPerPageMax`.
    package func list(
        of owner: ClipOwner, after cursor: TimeCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> Page<SpeechClip, TimeCursor> {
        try await database.read { db in
            let isOwn = "EXISTS (SELECT 1 FROM speech_requests WHERE user_id = ?1 AND clip_id = id)"
            let rows = try db.all(
                """
                SELECT * FROM speech_clips WHERE CASE WHEN ?1 IS NULL THEN is_shared = 1 ELSE \(isOwn) END
                AND (created_at, id) < (?2, ?3) ORDER BY created_at DESC, id DESC LIMIT ?4
                """, owner.user, cursor?.time.milliseconds ?? .max, cursor?.id ?? "", limit + 1)
            return try Page(rows, limit: limit, cursor: { try TimeCursor(time: $0["created_at"], id: $0["id"]) }) {
                try Self.clip(from: $0, in: db)
            }
        }
    }

    /// The audio and details of any ready clip for a request, of any owner; nil if there is none. The owner of an equal clip must not
    /// notice that it exists.
    package func spokenClip(_ request: SpeechRequest) async throws(StoreError) -> (audio: [UInt8], details: ClipDetails)? {
        try await database.read { db in
            let row = try db.one(
                """
                SELECT c.*, a.sealed FROM speech_clips c JOIN speech_audio a ON a.clip_id = c.id
                WHERE c.content = ? AND c.status = 'ready' LIMIT 1
                """, db.keychain.lookup(request, of: .service))
            guard let row, let details = try Self.clip(from: row, in: db).details else { return nil }
            return (try Self.audio(of: row["id"], sealed: row["sealed"], in: db), details)
        }
    }

    /// Adds an owner to the clip for a request, and makes the clip if there is none. A failed clip is queued again.
    package func add(
        for request: SpeechRequest, of owner: ClipOwner, limits: ClipLimits, at now: WallTime
    ) async throws(StoreError) -> SpeechClip {
        let newID = ClipID()
        return try await database.write { db in
            let (lookup, content) = (db.keychain.lookup(request, of: owner), db.keychain.lookup(request, of: .service))
            if try !db.has("SELECT 1 FROM speech_clips WHERE lookup = ?", lookup) {
                try db.execute(
                    """
                    INSERT INTO speech_clips (id, lookup, content, status, is_shared, request, used_at, created_at)
                    VALUES (?1, ?2, ?3, 'queued', 0, ?4, ?5, ?5)
                    """, newID, lookup, content, db.shared.seal(request, at: Self.clipLocation("request", newID)), now)
            }
            try db.execute(
                "UPDATE speech_clips SET status = 'queued', attempts = 0, failure = NULL WHERE lookup = ? AND status = 'failed'", lookup)
            try db.execute(
                "UPDATE speech_clips SET used_at = ?1, is_shared = CASE WHEN ?2 = 1 THEN 1 ELSE is_shared END WHERE lookup = ?3",
                now, owner.user == nil, lookup)
            guard let row = try db.one("SELECT * FROM speech_clips WHERE lookup = ?", lookup) else { throw StoreError.notFound }
            let clip = try Self.clip(from: row, in: db)
            if let user = owner.user { try Self.add(user, to: clip.id, limits, in: db, at: now) }
            try Self.evictClips(beyond: limits, keeping: clip.id, in: db)
            return clip
        }
    }

    /// - Throws: `notFound` also for a clip that the owner must not see.
    package func clip(_ id: ClipID, of owner: ClipOwner) async throws(StoreError) -> SpeechClip {
        try await database.read { db in try Self.clip(id, of: owner, in: db) }
    }

    /// A ready clip's audio file.
    ///
    /// - Throws: `notFound` also for a clip that is not ready.
    package func audio(_ id: ClipID, of owner: ClipOwner, at now: WallTime) async throws(StoreError) -> [UInt8] {
        let (audio, usedAt): ([UInt8], WallTime) = try await database.read { db in
            _ = try Self.clip(id, of: owner, in: db)
            let row = try db.one(
                "SELECT a.sealed, c.used_at FROM speech_audio a JOIN speech_clips c ON c.id = a.clip_id WHERE a.clip_id = ?", id)
            guard let row else { throw StoreError.notFound }
            return try (Self.audio(of: id, sealed: row[0], in: db), row[1])
        }
        // Not at each download: a write waits for the disk.
        if now >= usedAt + StoreLimits.clipUseResolution {
            try await database.write { db in try db.execute("UPDATE speech_clips SET used_at = ? WHERE id = ?", now, id) }
        }
        return audio
    }

    /// Removes the owner from a clip, which is deleted with its last one. An administrator deletes the clip for all.
    package func forget(_ id: ClipID, of owner: ClipOwner) async throws(StoreError) {
        try await database.delete { db in
            _ = try Self.clip(id, of: owner, in: db)
            switch owner {
            case .user(let user):
                try db.execute("DELETE FROM speech_requests WHERE user_id = ? AND clip_id = ?", user, id)
            case .service:
                try db.execute("UPDATE speech_clips SET is_shared = 0 WHERE id = ?", id)
                try db.execute(
                    "DELETE FROM speech_clips WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM speech_requests WHERE clip_id = ?1)", id)
            case .administrator: try db.execute("DELETE FROM speech_clips WHERE id = ?", id)
            }
        }
        database.eraseSoon()
    }

    // MARK: - Rows

    static func clipLocation(_ column: String, _ id: ClipID) -> String { "speech_clips.\(column).\(id)" }
    static func audioLocation(_ id: ClipID) -> String { "speech_audio.sealed.\(id)" }

    private static func clip(_ id: ClipID, of owner: ClipOwner, in db: Transaction) throws -> SpeechClip {
        guard let row = try db.one("SELECT * FROM speech_clips WHERE id = ?", id) else { throw StoreError.notFound }
        let isVisible =
            switch owner {
            case .administrator: true
            case .service: try row["is_shared"] as Bool
            case .user(let user): try db.has("SELECT 1 FROM speech_requests WHERE user_id = ? AND clip_id = ?", user, id)
            }
        guard isVisible else { throw StoreError.notFound }
        return try clip(from: row, in: db)
    }

    static func clip(from row: Row, in db: Transaction) throws -> SpeechClip {
        let id: ClipID = try row["id"]
        let createdAt: WallTime = try row["created_at"]
        return try SpeechClip(
            id: id, request: db.shared.open(row["request"], as: SpeechRequest.self, at: clipLocation("request", id)), status: row["status"],
            details: (row["about"] as Data?).map { try db.shared.open($0, as: ClipDetails.self, at: clipLocation("about", id)) },
            failure: db.shared.openText(ifPresent: row["failure"], at: clipLocation("failure", id)), byteCount: row["byte_count"],
            createdAt: createdAt.milliseconds == 0 ? nil : createdAt)
    }

    private static func audio(of id: ClipID, sealed: Data?, in db: Transaction) throws -> [UInt8] {
        let location = audioLocation(id)
        guard let sealed, let audio = SealedBox.open([UInt8](sealed), with: db.shared, at: location) else {
            throw StoreError.damaged(location: location)
        }
        return audio
    }

    /// Drops the user's oldest requests beyond the limit.
    private static func add(_ user: UserID, to id: ClipID, _ limits: ClipLimits, in db: Transaction, at now: WallTime) throws {
        // A user that is being deleted gets nothing new.
        let count = try db.execute(
            """
            INSERT INTO speech_requests SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM user_keys WHERE user_id = ?1)
            ON CONFLICT (user_id, clip_id) DO UPDATE SET requested_at = excluded.requested_at
            """, user, id, now)
        guard count > 0 else { throw StoreError.notFound }
        try db.execute(
            """
            DELETE FROM speech_requests WHERE user_id = ?1 AND clip_id IN
            (SELECT clip_id FROM speech_requests WHERE user_id = ?1 AND clip_id <> ?2 ORDER BY requested_at DESC LIMIT ?3 OFFSET ?4)
            """, user, id, Int.max, max(limits.clipsPerUserMax - 1, 0))
    }

    /// The user's clips are deleted unless others have requested them too.
    static func forgetAll(of user: UserID, in db: Transaction) throws {
        try db.execute("DELETE FROM speech_requests WHERE user_id = ?", user)
    }

    /// Deletes unused clips.
    static func expire(in db: Transaction, at now: WallTime) throws {
        try db.execute("DELETE FROM speech_clips WHERE used_at <= ?", now - StoreLimits.clipsKept)
    }

    static func verify(_ v: Verification) throws {
        try v.each("speech clips", "SELECT c.*, a.sealed FROM speech_clips c LEFT JOIN speech_audio a ON a.clip_id = c.id") { row in
            let clip = try clip(from: row, in: v.db)
            if clip.status == .ready { _ = try audio(of: clip.id, sealed: row["sealed"], in: v.db) }
        }
    }

    static func evictClips(beyond limits: ClipLimits, keeping id: ClipID, in db: Transaction) throws {
        guard let totals = try db.one("SELECT count(*), CAST(coalesce(sum(byte_count), 0) AS BIGINT) FROM speech_clips") else { return }
        var (count, bytes): (Int, Int) = try (totals[0], totals[1])
        while count > limits.clipsMax || bytes > limits.bytesMax {
            let oldest = try db.one(
                "SELECT id, byte_count FROM speech_clips WHERE status <> 'queued' AND id <> ? ORDER BY used_at, id LIMIT 1", id)
            guard let oldest else { return }
            try db.execute("DELETE FROM speech_clips WHERE id = ?", oldest[0] as String)
            (count, bytes) = try (count - 1, bytes - oldest[1])
        }
    }
}

extension Keychain {
    /// Services share a lookup, which does not depend on them.
    fileprivate func lookup(_ request: SpeechRequest, of owner: ClipOwner) -> Data {
        guard let user = owner.user else { return lookup(request.provider, request.voice, request.text, purpose: "speech") }
        return lookup(user.text, request.provider, request.voice, request.text, purpose: "speech of a user")
    }
}

extension ClipOwner {
    fileprivate var user: UserID? { if case .user(let user) = self { user } else { nil } }
}
