internal import Foundation
package import Wire

/// Makes a write depend on the epoch of a room in a cluster: it fails with `StoreError.superseded` if a later home of the room has written.
///
/// For a while, two nodes can both act as a room's home. After the first write of the new home, all further ones of the old one are refused.
package struct RoomFence: Sendable, Hashable {
    package var room: String
    package var epoch: RoomEpoch
    /// The time of the write.
    package var time: WallTime

    package init(_ room: String, _ epoch: RoomEpoch, at time: WallTime) {
        (self.room, self.epoch, self.time) = (room, epoch, time)
    }
}

/// The table of the highest epoch that has written about each room.
enum RoomEpochs {
    /// Records the epoch of a write of the same transaction.
    ///
    /// Always writes: two transactions about a room conflict, so that one of them sees the other's epoch. A statement that only reads would
    /// make transactions of other rooms conflict as well, because PostgreSQL notes what is read by page.
    ///
    /// - Parameter fence: nil without a cluster.
    /// - Throws: `superseded` for an epoch that is lower than the recorded one.
    static func check(_ fence: RoomFence?, in db: Transaction) throws {
        guard let fence else { return }
        let room = db.keychain.lookup(fence.room, purpose: "room epoch")
        let count = try db.execute(
            """
            INSERT INTO room_epochs (room, epoch, written_at) VALUES (?, ?, ?)
            ON CONFLICT (room) DO UPDATE SET epoch = excluded.epoch, written_at = excluded.written_at
            WHERE excluded.epoch >= room_epochs.epoch
            """, room, fence.epoch, fence.time)
        guard count == 0 else { return }
        let higher = try db.value(RoomEpoch.self, "SELECT epoch FROM room_epochs WHERE room = ?", room)
        throw StoreError.superseded(byNumber: higher?.number ?? fence.epoch.number)
    }

    /// Deletes epochs of rooms about which nothing has been written for long.
    static func expire(in db: Transaction, at now: WallTime) throws {
        try db.execute("DELETE FROM room_epochs WHERE written_at <= ?", now - StoreLimits.roomEpochsKept)
    }
}

/// The number and the claim, both with the most significant byte first: bytes are then ordered as epochs are.
extension RoomEpoch: SQLValue {
    static var type: SQLType { .blob }

    var datum: Datum {
        var bytes = Data(capacity: 16)
        for number in [number, claim] { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        return .blob(bytes)
    }

    static func value(of datum: Datum) -> RoomEpoch? {
        guard case .blob(let bytes) = datum, bytes.count == 16 else { return nil }
        func number(_ part: Data) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        return RoomEpoch(number: number(bytes.prefix(8)), claim: number(bytes.suffix(8)))
    }
}
