internal import Foundation
internal import Identity
internal import Wire

/// One utterance in a session.
package struct Turn: Sendable, Hashable {
    package enum Speaker: String, Sendable, Codable, SQLValue {
        case user, assistant
    }

    package var id: TurnID
    package var sessionID: SessionID
    /// When it began.
    package var timestamp: WallTime
    package var speaker: Speaker
    package var text: String
    /// A reference to the turn's audio: the name of a recording of its session, or any reference that the author has chosen.
    package var audioRef: String?
    /// How long it was spoken, in milliseconds; nil if unknown.
    package var durationMs: Int?
    /// The revision of its transcript segment: a later one replaces the turn.
    package var revision: Int

    package init(
        id: TurnID, sessionID: SessionID, timestamp: WallTime, speaker: Speaker, text: String, audioRef: String? = nil,
        durationMs: Int? = nil, revision: Int = 0
    ) {
        self.id = id
        self.sessionID = sessionID
        self.timestamp = timestamp
        self.speaker = speaker
        self.text = text
        self.audioRef = audioRef
        self.durationMs = durationMs
        self.revision = revision
    }
}

extension TurnID {
    /// The identifier of the turn that a transcript segment becomes: a UUID of version 8 (RFC 9562) made of a hash, the same for every revision.
    package init(session: SessionID, segment: String) {
        var bytes = Array(SHA2.digest(of: Array("\(session) \(segment)".utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let parts = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { Hex.encode(Array(bytes[$0])) }
        guard let id = TurnID(text: parts.joined(separator: "-")) else { preconditionFailure("sixteen bytes make a UUID") }
        self = id
    }
}

/// The outcome of `Sessions.append(_:of:)`.
package enum TurnOutcome: Sendable, Hashable {
    /// A new turn.
    case stored
    /// A later revision of a stored turn, which took its place.
    case replaced
    /// The store has this revision, or a later one.
    case unchanged
    /// The session is not logged. Nothing was written.
    case notLogged
}

extension Sessions {
    /// Stores a turn, or replaces it by a later revision; idempotent for the same revision. Turns and revisions may arrive after the session
    /// has ended: its summary is then repeated.
    ///
    /// A revision without text deletes the turn: nothing of it was played. It is remembered, so that an earlier revision does not bring it
    /// back.
    ///
    /// - Parameters:
    ///   - isKeyed: the turn's id comes from an idempotency key, so that a stored turn must be the same.
    ///   - fence: of the room in which it was spoken, in a cluster.
    /// - Throws: `notFound`; `keyReused`; `superseded`; `refused` above `StoreLimits.turnTextMax` or `StoreLimits.turnsPerSessionMax`.
    package func append(
        _ turn: Turn, of user: UserID, isKeyed: Bool = false, fencedBy fence: RoomFence? = nil
    ) async throws(StoreError) -> TurnOutcome {
        guard turn.text.utf8.count <= StoreLimits.turnTextMax else {
            throw .refused("A turn has at most \(StoreLimits.turnTextMax) bytes of text.")
        }
        // Whether a session is logged never changes, so one that is not never causes a write.
        guard try await isLogged(turn.sessionID, of: user) else { return .notLogged }
        return try await database.write { db in
            try RoomEpochs.check(fence, in: db)
            let key = try db.key(of: user)
            let session = try db.one("SELECT turn_count, ended_at FROM sessions WHERE id = ? AND user_id = ?", turn.sessionID, user)
            guard let session else { throw StoreError.notFound }
            let stored = try db.value(Int.self, "SELECT revision FROM turns WHERE session_id = ? AND id = ?", turn.sessionID, turn.id)
            if let stored {
                guard stored < turn.revision else {
                    if isKeyed { try Self.checkIsSame(turn, key, in: db) }
                    return .unchanged
                }
                try Self.replace(turn, key, in: db)
            } else {
                try Self.insert(turn, position: session["turn_count"], key, in: db)
            }
            if let endedAt = try session["ended_at"] as WallTime? {
                try Self.resetSummary(of: turn.sessionID, user: user, due: endedAt, in: db)
            }
            return stored == nil ? .stored : .replaced
        }
    }

    /// - Throws: `keyReused` if the stored turn is another one.
    private static func checkIsSame(_ turn: Turn, _ key: SealingKey, in db: Transaction) throws {
        let row = try db.one("SELECT timestamp, speaker, text, audio FROM turns WHERE session_id = ? AND id = ?", turn.sessionID, turn.id)
        guard let row else { return }
        let text = try key.openText(row["text"], at: turnLocation(turn.sessionID, turn.id.text))
        let audio = try (row["audio"] as Data?).map { try key.openText($0, at: audioLocation(turn.sessionID, turn.id.text)) }
        let isSame = try text == turn.text && audio == turn.audioRef && row["speaker"] == turn.speaker && row["timestamp"] == turn.timestamp
        if !isSame { throw StoreError.keyReused }
    }

    private static func insert(_ turn: Turn, position: Int, _ key: SealingKey, in db: Transaction) throws {
        guard position < StoreLimits.turnsPerSessionMax else {
            throw StoreError.refused("A session has at most \(StoreLimits.turnsPerSessionMax) turns.")
        }
        try db.execute("UPDATE sessions SET turn_count = turn_count + 1 WHERE id = ?", turn.sessionID)
        try db.execute(
            """
            INSERT INTO turns (session_id, id, position, timestamp, speaker, text, audio, duration_ms, revision)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            turn.sessionID, turn.id, position, turn.timestamp, turn.speaker,
            key.seal(turn.text, at: turnLocation(turn.sessionID, turn.id.text)), sealedAudio(of: turn, key), turn.durationMs, turn.revision)
    }

    private static func replace(_ turn: Turn, _ key: SealingKey, in db: Transaction) throws {
        try db.execute(
            """
            UPDATE turns SET timestamp = ?, speaker = ?, text = ?, audio = coalesce(?, audio), duration_ms = ?, revision = ?
            WHERE session_id = ? AND id = ?
            """,
            turn.timestamp, turn.speaker, key.seal(turn.text, at: turnLocation(turn.sessionID, turn.id.text)),
            sealedAudio(of: turn, key), turn.durationMs, turn.revision, turn.sessionID, turn.id)
    }

    private static func sealedAudio(of turn: Turn, _ key: SealingKey) -> Data? {
        turn.audioRef.map { key.seal($0, at: audioLocation(turn.sessionID, turn.id.text)) }
    }

    func isLogged(_ session: SessionID, of user: UserID) async throws(StoreError) -> Bool {
        try await database.read { db in
            let isLogged = try db.value(Bool.self, "SELECT is_logged FROM sessions WHERE id = ? AND user_id = ?", session, user)
            guard let isLogged else { throw StoreError.notFound }
            return isLogged
        }
    }

    // MARK: - Rows

    private static func turnLocation(_ session: SessionID, _ id: String) -> String { "turns.text.\(session) \(id)" }
    private static func audioLocation(_ session: SessionID, _ id: String) -> String { "turns.audio.\(session) \(id)" }

    static func turns(of session: SessionID, _ key: SealingKey, in db: Transaction) throws -> [Turn] {
        // Sorted here, because SQLite's sorter copies whole rows.
        var rows = try db.reader(
            "SELECT id, timestamp, speaker, text, audio_ref, duration_ms, position, revision, audio FROM turns WHERE session_id = ?",
            session)
        var sealed = SealedReader(key)
        var turns: [Turn] = []
        var positions: [Int64] = []
        while try rows.next() {
            guard let id = rows.bytes(0).flatMap(TurnID.init(utf8:)), let speaker = rows.text(2).flatMap(Turn.Speaker.init(rawValue:)),
                let timestamp = rows.integer(1), let text = rows.bytes(3), let position = rows.integer(6)
            else {
                throw StoreError.damaged(location: "turns.\(session) \(rows.text(0) ?? "")")
            }
            let turn = Turn(
                id: id, sessionID: session, timestamp: WallTime(milliseconds: timestamp), speaker: speaker,
                text: try sealed.text(text, at: "turns.text.", session, id),
                audioRef: try rows.bytes(8).map { try sealed.text($0, at: "turns.audio.", session, id) } ?? rows.text(4),
                durationMs: rows.integer(5).map(Int.init),
                revision: rows.integer(7).map(Int.init) ?? 0)
            // Nothing of it was played.
            if turn.revision > 0, turn.text.isEmpty { continue }
            turns.append(turn)
            positions.append(position)
        }
        let order = turns.indices.sorted { (turns[$0].timestamp, positions[$0]) < (turns[$1].timestamp, positions[$1]) }
        return order.map { turns[$0] }
    }

    static func verify(_ user: UserID, _ key: SealingKey, _ v: Verification) throws {
        try v.each("sessions of user \(user)", "SELECT * FROM sessions WHERE user_id = ?", user) { row in
            v.report.sessions += 1
            let id: SessionID = try row["id"]
            try v.check { _ = try session(id, of: user, from: row, key) }
            try v.check { if try summary(of: id, key, in: v.db) != nil { v.report.summaries += 1 } }
            var turns = 0
            try v.each("turns of session \(id)", "SELECT id, text, audio FROM turns WHERE session_id = ?", id) { turn in
                turns += 1
                _ = try key.openText(turn[1], at: turnLocation(id, turn[0]))
                _ = try key.openText(ifPresent: turn[2], at: audioLocation(id, turn[0]))
            }
            v.report.turns += turns
            if try turns != row["turn_count"] { v.note("Session \(id) has \(turns) turns and counts another number.") }
            if turns > 0, try !(row["is_logged"] as Bool) { v.note("Session \(id) is not logged and has turns.") }
        }
    }

    static func verify(_ v: Verification) throws {
        try v.each("jobs", "SELECT id, reason FROM jobs WHERE reason IS NOT NULL") { row in
            _ = try v.db.shared.openText(row[1], at: jobLocation(row[0]))
        }
        try v.count(
            "summaries stand where no list finds them",
            """
            SELECT count(*) FROM summaries m JOIN sessions s ON s.id = m.session_id
            WHERE m.user_id <> s.user_id OR m.started_at <> s.started_at
            """)
    }
}
