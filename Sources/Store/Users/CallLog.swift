internal import Foundation
internal import GRDB
internal import Identity
package import Wire

/// A call in the history of one of its members, as that member left it.
package struct CallLogEntry: Sendable, Hashable, Codable {
    /// Another member, or the one whose history this is, with its status at that time.
    package struct Member: Sendable, Hashable, Codable {
        package var party: CallParty
        package var status: CallStatus

        package init(party: CallParty, status: CallStatus) {
            self.party = party
            self.status = status
        }
    }

    package var id: CallID
    package var caller: CallParty
    /// As the caller gave it; may be empty.
    package var callerName: String
    /// The status of the member when it left.
    package var status: CallStatus
    package var members: [Member]
    /// When the member called or was called.
    package var startedAt: WallTime
    /// Nil if it never talked.
    package var answeredAt: WallTime?
    package var endedAt: WallTime

    package init(
        id: CallID, caller: CallParty, callerName: String, status: CallStatus, members: [Member], startedAt: WallTime,
        answeredAt: WallTime?, endedAt: WallTime
    ) {
        self.id = id
        self.caller = caller
        self.callerName = callerName
        self.status = status
        self.members = members
        self.startedAt = startedAt
        self.answeredAt = answeredAt
        self.endedAt = endedAt
    }
}

/// The history of a user's calls, sealed with the user's key and kept as long as its sessions.
extension SessionStore {
    /// A page of a user's calls, the last ended first.
    ///
    /// - Parameter limit: 1 to `StoreLimits.linesPerPageMax`.
    /// - Throws: `notFound` if there is no such user.
    package func calls(
        of user: UserID, after cursor: TimeCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> Page<CallLogEntry, TimeCursor> {
        try await reading { db in
            let key = try db.key(of: user)
            let rows = try db.rows(
                """
                SELECT ended_at, id, about FROM calls WHERE user_id = ? AND (ended_at, id) < (?, ?)
                ORDER BY ended_at DESC, id DESC LIMIT ?
                """, user, cursor?.time.milliseconds ?? .max, cursor?.id ?? "", limit + 1)
            return try Page(rows, limit: limit, cursor: { try TimeCursor(time: $0[0], id: $0[1]) }) { row in
                try key.open(row[2], as: CallLogEntry.self, at: Self.callLocation(user, row[1], row[0]))
            }
        }
    }

    static func callLocation(_ user: UserID, _ id: String, _ endedAt: Int64) -> String { "calls.about.\(user) \(id) \(endedAt)" }

    /// Adds a call to a user's history, unless the user has been deleted. The oldest entries beyond `StoreLimits.callsPerUserMax` are
    /// dropped.
    static func append(_ entry: CallLogEntry, of user: UserID, in db: Transaction) throws {
        guard let key = try db.key(ofExisting: user) else { return }
        let sealed = try key.seal(entry, at: callLocation(user, entry.id.text, entry.endedAt.milliseconds))
        try db.execute(
            "INSERT OR REPLACE INTO calls (user_id, ended_at, id, about) VALUES (?, ?, ?, ?)", user, entry.endedAt, entry.id.text, sealed)
        try db.execute(
            """
            DELETE FROM calls WHERE user_id = ?1 AND (ended_at, id) <= (
                SELECT ended_at, id FROM calls WHERE user_id = ?1 ORDER BY ended_at DESC, id DESC LIMIT 1 OFFSET ?2)
            """, user, StoreLimits.callsPerUserMax)
    }
}
