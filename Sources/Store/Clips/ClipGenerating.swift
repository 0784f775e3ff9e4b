internal import Foundation
internal import Identity

/// The generation of clips, from the queue to the audio.
extension Clips {
    /// The queued clips and their owners, oldest first: after a start, those that the previous process has not finished.
    package func queued() async throws(StoreError) -> [(id: ClipID, users: [UserID], isShared: Bool)] {
        try await database.read { db in
            try db.all("SELECT id, is_shared FROM speech_clips WHERE status = 'queued' ORDER BY used_at, id").map { row in
                let id: ClipID = try row[0]
                let users = try db.all("SELECT user_id FROM speech_requests WHERE clip_id = ? ORDER BY requested_at", id)
                return try (id, users.map { try $0[0] }, row[1])
            }
        }
    }

    /// Counts an attempt, before the generator starts: a text that crashes the process is not tried for ever.
    ///
    /// - Returns: nil if the clip is no longer queued, or was started `StoreLimits.clipAttemptsMax` times; then it has failed.
    package func start(_ id: ClipID) async throws(StoreError) -> SpeechRequest? {
        try await database.write { db in
            let row = try db.one("UPDATE speech_clips SET attempts = attempts + 1 WHERE id = ? AND status = 'queued' RETURNING *", id)
            guard let row else { return nil }
            guard try row["attempts"] <= StoreLimits.clipAttemptsMax else {
                try Self.fail(id, "the text could not be spoken", in: db)
                return nil
            }
            return try Self.clip(from: row, in: db).request
        }
    }

    /// Stores a clip's audio.
    ///
    /// - Returns: false if the clip has been deleted meanwhile.
    @discardableResult
    package func finish(
        _ id: ClipID, audio: [UInt8], details: ClipDetails, limits: ClipLimits, at now: WallTime
    ) async throws(StoreError) -> Bool {
        let sealed = Data(SealedBox.seal(audio, with: database.keychain.shared, at: Self.audioLocation(id)))
        return try await database.write { db in
            let count = try db.execute(
                """
                UPDATE speech_clips SET status = 'ready', about = ?, failure = NULL, byte_count = ?, used_at = ?
                WHERE id = ? AND status = 'queued'
                """, db.shared.seal(details, at: Self.clipLocation("about", id)), audio.count, now, id)
            guard count == 1 else { return false }
            try db.execute(
                "INSERT INTO speech_audio VALUES (?, ?) ON CONFLICT (clip_id) DO UPDATE SET sealed = excluded.sealed", id, sealed)
            try Self.evictClips(beyond: limits, keeping: id, in: db)
            return true
        }
    }

    /// - Parameter reason: shown to requesters. A repeated request queues the clip again.
    package func fail(_ id: ClipID, reason: String) async throws(StoreError) {
        try await database.write { db in try Self.fail(id, reason, in: db) }
    }

    private static func fail(_ id: ClipID, _ reason: String, in db: Transaction) throws {
        try db.execute(
            "UPDATE speech_clips SET status = 'failed', failure = ? WHERE id = ? AND status = 'queued'",
            db.shared.seal(reason, at: clipLocation("failure", id)), id)
    }
}
