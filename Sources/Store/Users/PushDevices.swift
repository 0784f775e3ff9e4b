internal import Foundation
internal import GRDB
package import Identity

/// An app installation that can be woken by a push service for an incoming call or a summary.
package struct PushDevice: Sendable, Hashable {
    package enum Platform: String, Sendable, Codable, CaseIterable, ColumnValue {
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

    package static func == (left: PushDevice, right: PushDevice) -> Bool {
        left.id == right.id && left.platform == right.platform && left.registeredAt == right.registeredAt && left.token == right.token
            && left.alertToken == right.alertToken
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

package typealias PushDeviceID = RecordID<PushDevice>

/// Devices that can be woken. Tokens are sealed with their user's key and looked up by a keyed hash.
extension SessionStore {
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
        return try await writing { db in
            let key = try db.key(of: user)
            let lookup = db.keychain.lookup(platform.rawValue, token.revealedText, purpose: "push")
            let known = try db.row("SELECT id FROM push_devices WHERE lookup = ? AND user_id = ?", lookup, user)
            let id: PushDeviceID = try known?["id"] ?? newID
            try db.execute("DELETE FROM push_devices WHERE lookup = ?", lookup)
            try db.execute(
                "INSERT INTO push_devices (id, user_id, lookup, platform, token, registered_at, alert_token) VALUES (?, ?, ?, ?, ?, ?, ?)",
                id, user, lookup, platform, key.seal(token.revealedText, at: Self.pushTokenLocation(id)), now,
                alertToken.map { key.seal($0.revealedText, at: Self.alertTokenLocation(id)) })
            try db.execute(
                """
                DELETE FROM push_devices WHERE id IN (
                    SELECT id FROM push_devices WHERE user_id = ? ORDER BY registered_at DESC, id LIMIT -1 OFFSET ?)
                """, user, StoreLimits.pushDevicesPerUserMax)
            return PushDevice(id: id, platform: platform, registeredAt: now, token: token, alertToken: alertToken)
        }
    }

    /// A user's devices, the last registered first; empty for a user that does not exist.
    package func pushDevices(of user: UserID) async throws(StoreError) -> [PushDevice] {
        try await reading { db in
            let rows = try db.rows("SELECT * FROM push_devices WHERE user_id = ? ORDER BY registered_at DESC, id", user)
            // There is no key while the user is being deleted.
            guard !rows.isEmpty, let key = try db.key(ofExisting: user) else { return [] }
            return try rows.map { try Self.pushDevice(from: $0, key) }
        }
    }

    /// - Parameter time: if given, a device that registered later is kept.
    /// - Throws: `notFound`, also for another user's device.
    package func removePushDevice(_ id: PushDeviceID, of user: UserID, registeredBefore time: WallTime? = nil) async throws(StoreError) {
        try await deleting { db in
            let count = try db.execute(
                "DELETE FROM push_devices WHERE id = ?1 AND user_id = ?2 AND (?3 IS NULL OR registered_at <= ?3)", id, user, time)
            guard count == 1 else { throw StoreError.notFound }
        }
    }

    /// Removes the alert token of a device, because APNs does not accept it. Does nothing if the device has registered since then.
    package func removeAlertToken(of id: PushDeviceID, of user: UserID, registeredBefore time: WallTime) async throws(StoreError) {
        try await deleting { db in
            try db.execute(
                "UPDATE push_devices SET alert_token = NULL WHERE id = ? AND user_id = ? AND registered_at <= ?", id, user, time)
        }
    }

    /// Apple says only that tokens are opaque and of variable length; they are sent in hexadecimal.
    private static func isAPNsToken(_ token: SecretText) -> Bool {
        32...200 ~= token.byteCount && token.revealedBytes.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    static func pushTokenLocation(_ id: PushDeviceID) -> String { "push_devices.token.\(id)" }
    static func alertTokenLocation(_ id: PushDeviceID) -> String { "push_devices.alert_token.\(id)" }

    static func pushDevice(from row: Row, _ key: SealingKey) throws -> PushDevice {
        let id: PushDeviceID = try row["id"]
        return try PushDevice(
            id: id, platform: row["platform"], registeredAt: row["registered_at"],
            token: SecretText(key.openText(row["token"], at: pushTokenLocation(id))),
            alertToken: (row["alert_token"] as Data?).map { try SecretText(key.openText($0, at: alertTokenLocation(id))) })
    }
}
