internal import Foundation
package import Identity
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

/// An app installation that can be woken by a push service for an incoming call or a summary.
package struct PushDevice: Sendable, Equatable {
    package enum Platform: String, Sendable, Codable, CaseIterable, SQLValue {
        case ios, android, web
    }

    package let id: PushDeviceID
    package let platform: Platform
    /// When the app last registered.
    package let registeredAt: WallTime
    /// The push service's identifier of the installation. With it and the operator's keys, anybody can send pushes.
    package let token: SecretText
    /// On an iPhone, the token for alerts, while `token` is for VoIP pushes, for which an app must show a call. Nil if the app shows no
    /// alerts.
    package let alertToken: SecretText?

    package init(id: PushDeviceID, platform: Platform, registeredAt: WallTime, token: SecretText, alertToken: SecretText? = nil) {
        self.id = id
        self.platform = platform
        self.registeredAt = registeredAt
        self.token = token
        self.alertToken = alertToken
    }

    /// Whether the device can be woken for anything other than a call.
    package var takesAlerts: Bool { platform != .ios || alertToken != nil }
}

package typealias PushDeviceID = RecordID<PushDevice>

/// The repository of calls: the history of each user's calls, sealed with the user's key and kept as long as its sessions, and the devices
/// that calls wake.
package struct Calls: Sendable {
    let database: any Database

    /// A page of a user's calls, the last ended first.
    ///
    /// - Parameter limit: 1 to `StoreLimits.linesPerPageMax`.
    package func list(
        of user: UserID, after cursor: TimeCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> Page<CallLogEntry, TimeCursor> {
        try await database.read { db in
            let key = try db.key(of: user)
            let rows = try db.all(
                """
                SELECT ended_at, id, about FROM calls WHERE user_id = ? AND (ended_at, id) < (?, ?)
                ORDER BY ended_at DESC, id DESC LIMIT ?
                """, user, cursor?.time.milliseconds ?? .max, cursor?.id ?? "", limit + 1)
            return try Page(rows, limit: limit, cursor: { try TimeCursor(time: $0[0], id: $0[1]) }) { row in
                try key.open(row[2], as: CallLogEntry.self, at: Self.callLocation(user, row[1], row[0]))
            }
        }
    }

    private static func callLocation(_ user: UserID, _ id: String, _ endedAt: Int64) -> String { "calls.about.\(user) \(id) \(endedAt)" }

    /// Adds a call to a user's history, unless the user has been deleted. The oldest entries beyond `StoreLimits.callsPerUserMax` are
    /// dropped.
    static func append(_ entry: CallLogEntry, of user: UserID, in db: Transaction) throws {
        guard let key = try db.key(ofExisting: user) else { return }
        let sealed = try key.seal(entry, at: callLocation(user, entry.id.text, entry.endedAt.milliseconds))
        try db.execute(
            """
            INSERT INTO calls (user_id, ended_at, id, about) VALUES (?, ?, ?, ?)
            ON CONFLICT (user_id, ended_at, id) DO UPDATE SET about = excluded.about
            """, user, entry.endedAt, entry.id.text, sealed)
        try db.execute(
            """
            DELETE FROM calls WHERE user_id = ?1 AND (ended_at, id) <= (
                SELECT ended_at, id FROM calls WHERE user_id = ?1 ORDER BY ended_at DESC, id DESC LIMIT 1 OFFSET ?2)
            """, user, StoreLimits.callsPerUserMax)
    }

    /// Deletes calls past their user's retention.
    func expire(at now: WallTime) async throws(StoreError) {
        _ = try await Accounts.deleteExpired(
            from: "calls", "user_id", "ended_at", "id", time: "ended_at", limit: StoreLimits.linesPerPageMax, in: database, at: now)
    }

    static func verify(_ user: UserID, _ key: SealingKey, _ v: Verification) throws {
        try v.each("calls of user \(user)", "SELECT id, ended_at, about FROM calls WHERE user_id = ?", user) { row in
            _ = try key.open(row[2], as: CallLogEntry.self, at: callLocation(user, row[0], row[1]))
        }
        try v.each("devices of user \(user)", "SELECT * FROM push_devices WHERE user_id = ?", user) { row in
            _ = try pushDevice(from: row, key)
        }
    }
}

/// Devices that can be woken. Tokens are sealed with their user's key and looked up by a keyed hash.
extension Calls {
    /// Registers a device. A token that is registered already keeps its id. If it belonged to another user of the same phone, it gets a new
    /// one: a push reaches one user only. The least recently registered devices beyond `StoreLimits.pushDevicesPerUserMax` are dropped.
    ///
    /// - Throws: `notFound` if there is no such user; `refused` for a token that the platform's push service cannot have issued.
    package func registerPushDevice(
        _ platform: PushDevice.Platform, token: SecretText, alertToken: SecretText? = nil, of user: UserID, at now: WallTime
    ) async throws(StoreError) -> PushDevice {
        guard platform != .ios || Self.isAPNsToken(token) else {
            throw .refused("The `push_token` of an ios device must be hexadecimal, as APNs gives it.")
        }
        guard alertToken.map({ platform == .ios && Self.isAPNsToken($0) }) ?? true else {
            throw .refused("`alert_token` is for ios devices only, and must be hexadecimal, as APNs gives it.")
        }
        let newID = PushDeviceID()
        return try await database.write { db in
            let key = try db.key(of: user)
            let lookup = db.keychain.lookup(platform.rawValue, token.revealedText, purpose: "push")
            let known = try db.one("SELECT id FROM push_devices WHERE lookup = ? AND user_id = ?", lookup, user)
            let id: PushDeviceID = try known?["id"] ?? newID
            try db.execute("DELETE FROM push_devices WHERE lookup = ?", lookup)
            try db.execute(
                "INSERT INTO push_devices (id, user_id, lookup, platform, token, registered_at, alert_token) VALUES (?, ?, ?, ?, ?, ?, ?)",
                id, user, lookup, platform, key.seal(token.revealedText, at: Self.pushTokenLocation(id)), now,
                alertToken.map { key.seal($0.revealedText, at: Self.alertTokenLocation(id)) })
            try db.execute(
                """
                DELETE FROM push_devices WHERE id IN (
                    SELECT id FROM push_devices WHERE user_id = ? ORDER BY registered_at DESC, id LIMIT ? OFFSET ?)
                """, user, Int.max, StoreLimits.pushDevicesPerUserMax)
            return PushDevice(id: id, platform: platform, registeredAt: now, token: token, alertToken: alertToken)
        }
    }

    /// A user's devices, the last registered first; empty for a user that does not exist.
    package func pushDevices(of user: UserID) async throws(StoreError) -> [PushDevice] {
        try await database.read { db in
            let rows = try db.all("SELECT * FROM push_devices WHERE user_id = ? ORDER BY registered_at DESC, id", user)
            // There is no key while the user is being deleted.
            guard !rows.isEmpty, let key = try db.key(ofExisting: user) else { return [] }
            return try rows.map { try Self.pushDevice(from: $0, key) }
        }
    }

    /// - Parameter time: if given, a device that registered later is kept.
    /// - Throws: `notFound`, also for another user's device.
    package func removePushDevice(_ id: PushDeviceID, of user: UserID, registeredBefore time: WallTime? = nil) async throws(StoreError) {
        try await database.delete { db in
            let count = try db.execute(
                "DELETE FROM push_devices WHERE id = ?1 AND user_id = ?2 AND (?3 IS NULL OR registered_at <= ?3)", id, user, time)
            guard count == 1 else { throw StoreError.notFound }
        }
    }

    /// Removes the alert token of a device, because APNs does not accept it. Does nothing if the device has registered since then.
    package func removeAlertToken(of id: PushDeviceID, of user: UserID, registeredBefore time: WallTime) async throws(StoreError) {
        try await database.delete { db in
            try db.execute(
                "UPDATE push_devices SET alert_token = NULL WHERE id = ? AND user_id = ? AND registered_at <= ?", id, user, time)
        }
    }

    static func removePushDevices(of user: UserID, in db: Transaction) throws {
        try db.execute("DELETE FROM push_devices WHERE user_id = ?", user)
    }

    /// Apple says only that tokens are opaque and of variable length; they are sent in hexadecimal.
    private static func isAPNsToken(_ token: SecretText) -> Bool {
        32...200 ~= token.byteCount && token.revealedBytes.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    private static func pushTokenLocation(_ id: PushDeviceID) -> String { "push_devices.token.\(id)" }
    private static func alertTokenLocation(_ id: PushDeviceID) -> String { "push_devices.alert_token.\(id)" }

    static func pushDevice(from row: Row, _ key: SealingKey) throws -> PushDevice {
        let id: PushDeviceID = try row["id"]
        return try PushDevice(
            id: id, platform: row["platform"], registeredAt: row["registered_at"],
            token: SecretText(key.openText(row["token"], at: pushTokenLocation(id))),
            alertToken: (row["alert_token"] as Data?).map { try SecretText(key.openText($0, at: alertTokenLocation(id))) })
    }
}
