import Cluster
import Testing
import Wire

/// A broker that stands still for some seconds, while the connections to it stay open.
struct FrozenBrokerTests {
    private let other = NodeIdentity(name: "b", incarnation: 1)
    private let requester = RequesterID(1)

    private var stored: Result<StoredRecord?, BrokerError> {
        let record = RoomRecord(epoch: RoomEpoch(number: 3, claim: 5), home: other, snapshot: [1])
        return .success(StoredRecord(value: record.bytes, revision: 40))
    }

    /// A node that knows another one, and has listened for a while.
    private func node() -> ScriptedNode {
        let node = ScriptedNode()
        node.pass(.seconds(2))
        node.handle(.received(NodeBeat(node: other, number: 1, build: "1")))
        return node
    }

    /// Its answer may be the first thing that comes back, before any beat.
    @Test(arguments: [Duration.milliseconds(1_500), .seconds(4)]) func roomOfALivingNodeIsNotTakenOver(freeze: Duration) {
        let node = node()
        node.isFrozen = true
        node.pass(freeze)
        #expect(node.machine.others(at: node.now).map(\.node) == [other], "nobody is judged")
        #expect(node.handle(.wanted(room: "r", by: requester)) == [.read(room: "r")])
        #expect(node.handle(.read(room: "r", stored)) == [.answer(requester, .elsewhere(other))])
        node.isFrozen = false
        node.pass(.milliseconds(1_000))
        node.handle(.wanted(room: "r", by: requester))
        #expect(node.handle(.read(room: "r", stored)) == [.answer(requester, .elsewhere(other))], "it has been heard for a second only")
    }

    @Test func roomOfANodeThatDoesNotComeBackIsTakenOver() {
        let node = node()
        node.isFrozen = true
        node.pass(.seconds(4))
        node.isFrozen = false
        node.pass(.seconds(2))
        node.handle(.wanted(room: "r", by: requester))
        guard case .write("r", let claim, after: 40)? = node.handle(.read(room: "r", stored)).first else {
            Issue.record("no claim")
            return
        }
        #expect(claim.home == node.local && claim.snapshot == [1])
    }
}
