package import Wire

/// A room as the broker's bucket has it.
package struct RoomRecord: Hashable, Sendable {
    package var epoch: RoomEpoch
    /// Nil for a room that has ended, or whose home has handed it over.
    package var home: NodeIdentity?
    /// What another home needs to go on with the room, sealed; empty if there is nothing to go on with.
    package var snapshot: [UInt8]
    /// Fields of later versions, which are written back as they were.
    var otherFields: [JSONValue.Member] = []

    package init(epoch: RoomEpoch, home: NodeIdentity?, snapshot: [UInt8]) {
        (self.epoch, self.home, self.snapshot) = (epoch, home, snapshot)
    }
}

/// A JSON object, a line feed, and the snapshot.
extension RoomRecord {
    package var bytes: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("epoch", .string(epoch.number.hex)), .init("claim", .string(epoch.claim.hex)),
        ]
        if let home { members.append(.init("home", .string(home.description))) }
        return JSONValue.object(members + otherFields).bytes + [UInt8(ascii: "\n")] + snapshot
    }

    /// - Returns: nil for bytes that are no record.
    package init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            case .object(let members)? = try? JSONValue(parsing: Array(bytes[..<end]), depthMax: 8)
        else { return nil }
        var fields = members
        let take = { (name: String) -> String? in
            guard let index = fields.firstIndex(where: { $0.name == name }) else { return nil }
            return fields.remove(at: index).value.text
        }
        guard let number = take("epoch").flatMap({ UInt64(hex: $0[...]) }), let claim = take("claim").flatMap({ UInt64(hex: $0[...]) })
        else { return nil }
        let name = take("home")
        let home = NodeIdentity(name)
        guard (name == nil) == (home == nil) else { return nil }
        self.init(epoch: RoomEpoch(number: number, claim: claim), home: home, snapshot: Array(bytes[(end + 1)...]))
        otherFields = fields
    }
}
