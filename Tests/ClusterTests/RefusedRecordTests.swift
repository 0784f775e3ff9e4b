import Cluster
import Testing
import Wire

/// A home whose records the broker refuses, for example because a room's snapshot is too big.
struct RefusedRecordTests {
    private let refusal: Result<UInt64, BrokerError> = .failure(.refused("too big"))

    private func stored(_ record: RoomRecord, revision: UInt64) -> Result<StoredRecord?, BrokerError> {
        .success(StoredRecord(value: record.bytes, revision: revision))
    }

    /// The home of a room whose record has the snapshot [1] and the revision 2. A bigger one has been refused.
    private func refusedNode() throws -> (ScriptedNode, recorded: RoomRecord) {
        let node = ScriptedNode()
        let epoch = try node.begin("r")
        node.handle(.changed(room: "r"))
        node.handle(.collected(room: "r", snapshot: [1]))
        node.handle(.written(room: "r", .success(2)))
        node.handle(.changed(room: "r"))
        node.handle(.collected(room: "r", snapshot: [1, 2, 3]))
        #expect(node.handle(.written(room: "r", refusal)) == [.refused(room: "r", "too big")])
        return (node, RoomRecord(epoch: epoch, home: node.local, snapshot: [1]))
    }

    @Test func refusedHomeTriesAgainSeldom() throws {
        let (node, recorded) = try refusedNode()
        for _ in 0..<3 {
            #expect(node.handle(.changed(room: "r")).isEmpty)
            #expect(node.pass(ClusterLimits.refusalInterval - .milliseconds(20)).isEmpty)
            #expect(node.pass(.milliseconds(40)) == [.read(room: "r")])
            #expect(node.handle(.read(room: "r", stored(recorded, revision: 2))) == [.collect(room: "r", isLast: false)])
            node.handle(.collected(room: "r", snapshot: [1, 2, 3]))
            #expect(node.handle(.written(room: "r", refusal)).isEmpty, "known already")
        }
    }

    @Test func repliesDoNotWaitForARecordThatIsRefused() throws {
        let (node, recorded) = try refusedNode()
        #expect(node.handle(.promised(room: "r", PromiseID(1))) == [.kept(PromiseID(1))])
        node.pass(ClusterLimits.refusalInterval + .milliseconds(20))
        node.handle(.read(room: "r", stored(recorded, revision: 2)))
        node.handle(.collected(room: "r", snapshot: [1, 2]))
        node.handle(.written(room: "r", .success(3)))
        #expect(!node.handle(.promised(room: "r", PromiseID(2))).contains(.kept(PromiseID(2))), "they wait again")
    }

    @Test func repliesThatWaitAreSentWhenTheRecordIsRefused() throws {
        let node = ScriptedNode()
        _ = try node.begin("r")
        node.handle(.promised(room: "r", PromiseID(1)))
        node.handle(.promised(room: "r", PromiseID(2)))
        node.handle(.collected(room: "r", snapshot: [1]))
        let effects = node.handle(.written(room: "r", refusal))
        #expect(effects == [.refused(room: "r", "too big"), .kept(PromiseID(1)), .kept(PromiseID(2))])
    }

    @Test func refusedHomeClosesItsRoomAtOnce() throws {
        let (node, recorded) = try refusedNode()
        #expect(node.handle(.closed(room: "r")) == [.read(room: "r")])
        let empty = RoomRecord(epoch: recorded.epoch, home: nil, snapshot: [])
        #expect(node.handle(.read(room: "r", stored(recorded, revision: 2))) == [.write(room: "r", empty, after: 2)])
        #expect(node.handle(.written(room: "r", .success(3))) == [.ended(room: "r", .closed)])
    }

    @Test func refusalIsToldAgainAfterAnAcceptedRecord() throws {
        let (node, recorded) = try refusedNode()
        node.pass(ClusterLimits.refusalInterval + .milliseconds(20))
        node.handle(.read(room: "r", stored(recorded, revision: 2)))
        node.handle(.collected(room: "r", snapshot: [1]))
        node.handle(.written(room: "r", .success(3)))
        node.pass(.seconds(1))
        node.handle(.changed(room: "r"))
        node.handle(.collected(room: "r", snapshot: [1, 2, 3]))
        #expect(node.handle(.written(room: "r", refusal)) == [.refused(room: "r", "too big")])
    }

    @Test func refusedHomeStillNoticesATakeover() throws {
        let (node, recorded) = try refusedNode()
        node.pass(ClusterLimits.refusalInterval + .milliseconds(20))
        let other = NodeIdentity(name: "b", incarnation: 1)
        let taken = RoomRecord(epoch: RoomEpoch(number: recorded.epoch.number + 1, claim: 1), home: other, snapshot: [1])
        #expect(node.handle(.read(room: "r", stored(taken, revision: 3))) == [.ended(room: "r", .lost(to: other))])
    }

    /// Rather than keeping its clients on a node that drains.
    @Test func roomWhoseLastSnapshotIsRefusedMovesWithTheOneInItsRecord() throws {
        let (node, recorded) = try refusedNode()
        #expect(node.handle(.moved(room: "r")) == [.read(room: "r")], "at once")
        #expect(node.handle(.read(room: "r", stored(recorded, revision: 2))) == [.collect(room: "r", isLast: true)])
        node.handle(.collected(room: "r", snapshot: [1, 2, 3]))
        #expect(node.handle(.written(room: "r", refusal)) == [.resumed(room: "r"), .read(room: "r")])
        let last = RoomRecord(epoch: recorded.epoch, home: nil, snapshot: [1])
        #expect(node.handle(.read(room: "r", stored(recorded, revision: 2))) == [.write(room: "r", last, after: 2)])
        #expect(node.handle(.written(room: "r", .success(3))) == [.ended(room: "r", .moved)])
    }

    @Test func promiseOfARoomThatMovesWithAnEarlierSnapshotIsBroken() throws {
        let node = ScriptedNode()
        let epoch = try node.begin("r")
        node.handle(.promised(room: "r", PromiseID(1)))
        node.handle(.moved(room: "r"))
        node.handle(.collected(room: "r", snapshot: [1]))
        node.handle(.written(room: "r", .failure(.unavailable)))
        node.pass(.seconds(1))
        let recorded = RoomRecord(epoch: epoch, home: node.local, snapshot: [])
        #expect(node.handle(.read(room: "r", stored(recorded, revision: 1))) == [.collect(room: "r", isLast: true)])
        node.handle(.collected(room: "r", snapshot: [1]))
        #expect(node.handle(.written(room: "r", refusal)) == [.resumed(room: "r"), .refused(room: "r", "too big"), .read(room: "r")])
        node.handle(.read(room: "r", stored(recorded, revision: 1)))
        #expect(node.handle(.written(room: "r", .success(2))) == [.broken(PromiseID(1)), .ended(room: "r", .moved)])
    }

    @Test func roomThatClosesInsteadOfMovingLeavesNoSnapshot() throws {
        let (node, recorded) = try refusedNode()
        node.handle(.moved(room: "r"))
        node.handle(.read(room: "r", stored(recorded, revision: 2)))
        node.handle(.collected(room: "r", snapshot: [1, 2, 3]))
        node.handle(.written(room: "r", refusal))
        node.handle(.closed(room: "r"))
        let empty = RoomRecord(epoch: recorded.epoch, home: nil, snapshot: [])
        #expect(node.handle(.read(room: "r", stored(recorded, revision: 2))) == [.write(room: "r", empty, after: 2)])
        #expect(node.handle(.written(room: "r", .success(3))) == [.ended(room: "r", .closed)])
    }
}
