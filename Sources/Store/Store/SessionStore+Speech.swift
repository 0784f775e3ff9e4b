internal import Foundation
internal import GRDB
internal import Identity
internal import Wire

/// Speech clips. A clip is found by a keyed hash of its request; request, details and audio are encrypted with the store's key, because
/// users share clips. The last user's deletion deletes the clip, unless a service has requested it too.
extension SessionStore {
    /// The clip for a request; nil if there is none.
    package func speechClip(for request: SpeechRequest) async throws(StoreError) -> SpeechClip? {
        let keychain = keychain
        return try await reading { db in
            let row = try Row.fetchOne(db, sql: "SELECT * FROM speech_clips WHERE lookup = ?", arguments: [keychain.lookup(request)])
            return try row.map { try Self.clip(from: $0, keychain) }
        }
    }

    /// Adds an owner to the clip for a request, and makes the clip if there is none. A failed clip is queued again.
    package func addSpeechClip(
        for request: SpeechRequest, of owner: ClipOwner, limits: ClipLimits, at now: WallTime
    ) async throws(StoreError) -> SpeechClip {
        let keychain = keychain
        let newID = ClipID()
        return try await writing { db in
            let lookup = keychain.lookup(request)
            if try Row.fetchOne(db, sql: "SELECT 1 FROM speech_clips WHERE lookup = ?", arguments: [lookup]) == nil {
                let sealed = try keychain.shared.seal(request, at: Self.clipLocation("request", newID.text))
                try db.execute(
                    sql: "INSERT INTO speech_clips (id, lookup, status, is_shared, request, used_at) VALUES (?, ?, 'queued', 0, ?, ?)",
                    arguments: [newID.text, lookup, sealed, now.milliseconds])
            }
            try db.execute(
                sql: "UPDATE speech_clips SET status = 'queued', attempts = 0, failure = NULL WHERE lookup = ? AND status = 'failed'",
                arguments: [lookup])
            try db.execute(
                sql: "UPDATE speech_clips SET used_at = ?, is_shared = max(is_shared, ?) WHERE lookup = ?",
                arguments: [now.milliseconds, owner.user == nil, lookup])
            guard let row = try Row.fetchOne(db, sql: "SELECT * FROM speech_clips WHERE lookup = ?", arguments: [lookup]) else {
                throw StoreError.notFound
            }
            let clip = try Self.clip(from: row, keychain)
            if let user = owner.user { try Self.add(user, to: clip.id, limits, in: db, at: now) }
            try Self.evictClips(beyond: limits, keeping: clip.id, in: db)
            return clip
        }
    }

    /// - Throws: `notFound` also for a clip that the owner must not see.
    package func speechClip(_ id: ClipID, of owner: ClipOwner) async throws(StoreError) -> SpeechClip {
        let keychain = keychain
        return try await reading { db in try Self.clip(id, of: owner, keychain, in: db) }
    }

    /// A ready clip's audio file.
    ///
    /// - Throws: `notFound` also for a clip that is not ready.
    package func speechAudio(_ id: ClipID, of owner: ClipOwner, at now: WallTime) async throws(StoreError) -> [UInt8] {
        let keychain = keychain
        let (audio, usedAt): ([UInt8], Int64) = try await reading { db in
            _ = try Self.clip(id, of: owner, keychain, in: db)
            let row = try Row.fetchOne(
                db,
                sql: "SELECT a.sealed, c.used_at FROM speech_audio a JOIN speech_clips c ON c.id = a.clip_id WHERE a.clip_id = ?",
                arguments: [id.text])
            guard let row else { throw StoreError.notFound }
            let location = Self.audioLocation(id.text)
            guard let audio = SealedBox.open([UInt8](row[0] as Data), with: keychain.shared, at: location) else {
                throw StoreError.damaged(location: location)
            }
            return (audio, row[1])
        }
        // Not at each download: a write waits for the disk.
        if now.milliseconds - usedAt >= StoreLimits.clipUseResolution.inMilliseconds {
            try await writing { db in
                try db.execute(sql: "UPDATE speech_clips SET used_at = ? WHERE id = ?", arguments: [now.milliseconds, id.text])
            }
        }
        return audio
    }

    /// Removes the owner from a clip, which is deleted with its last one. An administrator deletes the clip for all.
    ///
    /// - Throws: `notFound`.
    package func forgetSpeechClip(_ id: ClipID, of owner: ClipOwner) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            _ = try Self.clip(id, of: owner, keychain, in: db)
            switch owner {
            case .user(let user):
                try db.execute(
                    sql: "DELETE FROM speech_requests WHERE user_id = ? AND clip_id = ?", arguments: [user.text, id.text])
            case .service:
                try db.execute(sql: "UPDATE speech_clips SET is_shared = 0 WHERE id = ?", arguments: [id.text])
                try db.execute(
                    sql: "DELETE FROM speech_clips WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM speech_requests WHERE clip_id = ?1)",
                    arguments: [id.text])
            case .administrator: try db.execute(sql: "DELETE FROM speech_clips WHERE id = ?", arguments: [id.text])
            }
        }
        log.emptySoon()
    }
}

// MARK: - Generating

extension SessionStore {
    /// The queued clips and their owners, oldest first: after a start, those that the previous process has not finished.
    package func queuedSpeechClips() async throws(StoreError) -> [(id: ClipID, users: [UserID], isShared: Bool)] {
        try await reading { db in
            try Row.fetchAll(db, sql: "SELECT id, is_shared FROM speech_clips WHERE status = 'queued' ORDER BY used_at, id").compactMap {
                row in
                guard let id = ClipID(text: row[0]) else { return nil }
                let users = try String.fetchAll(
                    db, sql: "SELECT user_id FROM speech_requests WHERE clip_id = ? ORDER BY requested_at", arguments: [id.text])
                return (id, users.compactMap(UserID.init(text:)), row[1])
            }
        }
    }

    /// Counts an attempt, before the generator starts: a text that crashes the process is not tried for ever.
    ///
    /// - Returns: nil if the clip is no longer queued, or was started `StoreLimits.clipAttemptsMax` times; then it has failed.
    package func startSpeechClip(_ id: ClipID) async throws(StoreError) -> SpeechRequest? {
        let keychain = keychain
        return try await writing { db in
            try db.execute(
                sql: "UPDATE speech_clips SET attempts = attempts + 1 WHERE id = ? AND status = 'queued'", arguments: [id.text])
            guard db.changesCount == 1, let row = try Row.fetchOne(db, sql: "SELECT * FROM speech_clips WHERE id = ?", arguments: [id.text])
            else { return nil }
            guard row["attempts"] <= StoreLimits.clipAttemptsMax else {
                try Self.fail(id, "the text could not be spoken", keychain, in: db)
                return nil
            }
            return try Self.clip(from: row, keychain).request
        }
    }

    /// Stores a clip's audio.
    ///
    /// - Returns: false if the clip has been deleted meanwhile.
    @discardableResult
    package func finishSpeechClip(
        _ id: ClipID, audio: [UInt8], details: ClipDetails, limits: ClipLimits, at now: WallTime
    ) async throws(StoreError) -> Bool {
        let keychain = keychain
        let sealed = Data(SealedBox.seal(audio, with: keychain.shared, at: Self.audioLocation(id.text)))
        return try await writing { db in
            try db.execute(
                sql: """
                    UPDATE speech_clips SET status = 'ready', about = ?, failure = NULL, byte_count = ?, used_at = ?
                    WHERE id = ? AND status = 'queued'
                    """,
                arguments: [
                    keychain.shared.seal(details, at: Self.clipLocation("about", id.text)), audio.count, now.milliseconds, id.text,
                ])
            guard db.changesCount == 1 else { return false }
            try db.execute(sql: "INSERT OR REPLACE INTO speech_audio VALUES (?, ?)", arguments: [id.text, sealed])
            try Self.evictClips(beyond: limits, keeping: id, in: db)
            return true
        }
    }

    /// - Parameter reason: shown to requesters. A repeated request queues the clip again.
    package func failSpeechClip(_ id: ClipID, reason: String) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in try Self.fail(id, reason, keychain, in: db) }
    }

    private static func fail(_ id: ClipID, _ reason: String, _ keychain: Keychain, in db: Database) throws {
        try db.execute(
            sql: "UPDATE speech_clips SET status = 'failed', failure = ? WHERE id = ? AND status = 'queued'",
            arguments: [keychain.shared.seal(reason, at: clipLocation("failure", id.text)), id.text])
    }
}

// MARK: - Rows

extension SessionStore {
    static func clipLocation(_ column: String, _ id: String) -> String { "speech_clips.\(column).\(id)" }
    static func audioLocation(_ id: String) -> String { "speech_audio.sealed.\(id)" }

    private static func clip(_ id: ClipID, of owner: ClipOwner, _ keychain: Keychain, in db: Database) throws -> SpeechClip {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM speech_clips WHERE id = ?", arguments: [id.text]) else {
            throw StoreError.notFound
        }
        let isVisible =
            switch owner {
            case .administrator: true
            case .service: row["is_shared"] as Bool
            case .user(let user):
                try Bool.fetchOne(
                    db, sql: "SELECT 1 FROM speech_requests WHERE user_id = ? AND clip_id = ?", arguments: [user.text, id.text]) != nil
            }
        guard isVisible else { throw StoreError.notFound }
        return try clip(from: row, keychain)
    }

    static func clip(from row: Row, _ keychain: Keychain) throws -> SpeechClip {
        let text: String = row["id"]
        guard let id = ClipID(text: text), let status = SpeechClip.Status(rawValue: row["status"]) else {
            throw StoreError.damaged(location: "speech_clips.id.\(text)")
        }
        return SpeechClip(
            id: id, request: try keychain.shared.open(row["request"], as: SpeechRequest.self, at: clipLocation("request", text)),
            status: status,
            details: try (row["about"] as Data?).map {
                try keychain.shared.open($0, as: ClipDetails.self, at: clipLocation("about", text))
            },
            failure: try (row["failure"] as Data?).map { try keychain.shared.openText($0, at: clipLocation("failure", text)) },
            byteCount: row["byte_count"])
    }

    /// For `verify()`.
    ///
    /// - Throws: `damaged`.
    static func checkClip(_ row: Row, _ keychain: Keychain) throws {
        let clip = try clip(from: row, keychain)
        guard clip.status == .ready else { return }
        let location = audioLocation(clip.id.text)
        guard let sealed = row["sealed"] as Data?, SealedBox.open([UInt8](sealed), with: keychain.shared, at: location) != nil else {
            throw StoreError.damaged(location: location)
        }
    }

    /// Drops the user's oldest requests beyond the limit.
    private static func add(_ user: UserID, to id: ClipID, _ limits: ClipLimits, in db: Database, at now: WallTime) throws {
        // A user that is being deleted gets nothing new.
        try db.execute(
            sql: """
                INSERT INTO speech_requests SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM user_keys WHERE user_id = ?1)
                ON CONFLICT DO UPDATE SET requested_at = excluded.requested_at
                """,
            arguments: [user.text, id.text, now.milliseconds])
        guard db.changesCount > 0 else { throw StoreError.notFound }
        try db.execute(
            sql: """
                DELETE FROM speech_requests WHERE user_id = ?1 AND clip_id IN
                (SELECT clip_id FROM speech_requests WHERE user_id = ?1 AND clip_id <> ?2 ORDER BY requested_at DESC LIMIT -1 OFFSET ?3)
                """,
            arguments: [user.text, id.text, max(limits.clipsPerUserMax - 1, 0)])
    }

    private static func evictClips(beyond limits: ClipLimits, keeping id: ClipID, in db: Database) throws {
        guard let totals = try Row.fetchOne(db, sql: "SELECT count(*), total(byte_count) FROM speech_clips") else { return }
        var (count, bytes): (Int, Int) = (totals[0], Int(totals[1] as Double))
        while count > limits.clipsMax || bytes > limits.bytesMax {
            let oldest = try Row.fetchOne(
                db, sql: "SELECT id, byte_count FROM speech_clips WHERE status <> 'queued' AND id <> ? ORDER BY used_at, id LIMIT 1",
                arguments: [id.text])
            guard let oldest else { return }
            try db.execute(sql: "DELETE FROM speech_clips WHERE id = ?", arguments: [oldest[0] as String])
            (count, bytes) = (count - 1, bytes - oldest[1])
        }
    }
}

extension Keychain {
    fileprivate func lookup(_ request: SpeechRequest) -> Data {
        Data(lookup(request.provider, request.voice, request.text, purpose: "speech"))
    }
}

extension ClipOwner {
    fileprivate var user: UserID? {
        if case .user(let user) = self { user } else { nil }
    }
}
