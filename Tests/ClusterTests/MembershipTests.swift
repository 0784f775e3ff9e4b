import Cluster
import Testing
import Wire

/// Which nodes run, from their beats, with simulated time.
struct MembershipTests {
    private let start = Instant(nanoseconds: 1_000_000_000_000)
    private let local = NodeIdentity(name: "a", incarnation: 7)
    private let other = NodeIdentity(name: "b", incarnation: 1)

    private func beat(_ number: UInt64, of node: NodeIdentity? = nil) -> NodeBeat {
        NodeBeat(node: node ?? other, number: number, build: "1")
    }

    /// A node that hears itself.
    private func membership() -> Membership {
        var nodes = Membership(local: local, at: start)
        nodes.connected()
        nodes.received(beat(1, of: local), at: start)
        return nodes
    }

    /// The broker returns this node's own beats for a while.
    private func echo(to nodes: inout Membership, from first: Duration = .zero, until last: Duration) {
        var at = first
        while at < last {
            nodes.received(beat(1, of: local), at: start + at)
            at += ClusterLimits.beatInterval
        }
        nodes.received(beat(1, of: local), at: start + last)
    }

    @Test func silentNodeHasEnded() {
        var nodes = membership()
        nodes.received(beat(1), at: start + .seconds(1))
        echo(to: &nodes, until: .milliseconds(2_499))
        #expect(nodes.running(at: start + .milliseconds(2_499)).map(\.node) == [other])
        #expect(!nodes.hasEnded(other, at: start + .milliseconds(2_499)))
        #expect(nodes.hasEnded(other, at: start + .milliseconds(2_500)))
        #expect(nodes.running(at: start + .milliseconds(2_500)).isEmpty)
    }

    @Test func unknownNodeHasEndedOnceItWouldHaveBeenHeard() {
        var nodes = membership()
        echo(to: &nodes, until: .milliseconds(1_499))
        #expect(!nodes.hasEnded(other, at: start + .milliseconds(1_499)))
        #expect(nodes.hasEnded(other, at: start + .milliseconds(1_500)))
    }

    @Test func nodeWithoutConnectionBelievesNobodyToHaveEnded() {
        var nodes = membership()
        nodes.received(beat(1), at: start)
        nodes.disconnected()
        #expect(!nodes.hasEnded(other, at: start + .seconds(60)))
        nodes.connected()
        echo(to: &nodes, from: .seconds(60), until: .milliseconds(61_499))
        #expect(!nodes.hasEnded(other, at: start + .milliseconds(61_499)), "it has not been able to listen for long enough")
        #expect(nodes.hasEnded(other, at: start + .milliseconds(61_500)))
    }

    /// A broker that stands still for some seconds passes on nothing, and the connection to it stays open.
    @Test(arguments: [Duration.milliseconds(1_500), .seconds(4)]) func frozenBrokerEndsNobody(freeze: Duration) {
        var nodes = membership()
        nodes.received(beat(1), at: start)
        let thaw = start + freeze
        #expect(!nodes.hasEnded(other, at: thaw), "everybody is silent, this node too")
        nodes.removeEnded(at: thaw)
        #expect(nodes.running(at: thaw).map(\.node) == [other])
        // Its own beat is the first to come back.
        nodes.received(beat(2, of: local), at: thaw)
        #expect(!nodes.hasEnded(other, at: thaw), "the silence before does not count")
        for step in 1...5 { nodes.received(beat(UInt64(step + 2), of: local), at: thaw + ClusterLimits.beatInterval * step) }
        #expect(!nodes.hasEnded(other, at: thaw + .milliseconds(1_499)))
        #expect(nodes.hasEnded(other, at: thaw + .milliseconds(1_500)), "it has not come back")
    }

    @Test func suspendedNodeListensAnewBeforeItJudges() {
        var nodes = membership()
        nodes.received(beat(1), at: start)
        echo(to: &nodes, until: .milliseconds(499))
        let suspensions = [start + .milliseconds(499), start + .milliseconds(1_000)].map { nodes.noteTime($0) }
        #expect(suspensions == [false, true])
        echo(to: &nodes, from: .milliseconds(1_000), until: .milliseconds(2_499))
        #expect(!nodes.hasEnded(other, at: start + .milliseconds(2_499)))
        #expect(nodes.hasEnded(other, at: start + .milliseconds(2_500)))
    }

    @Test func repeatedAndOvertakenBeatsAreNoSignOfLife() {
        var nodes = membership()
        nodes.received(beat(2), at: start)
        nodes.received(beat(2), at: start + .seconds(1))
        nodes.received(beat(1), at: start + .seconds(1))
        echo(to: &nodes, until: .milliseconds(1_500))
        #expect(nodes.hasEnded(other, at: start + .milliseconds(1_500)))
    }

    @Test func aFloodOfNamesDoesNotDisplaceKnownNodes() {
        var nodes = membership()
        nodes.received(beat(1), at: start)
        for number in 0..<2_000 {
            nodes.received(beat(1, of: NodeIdentity(name: "flood", incarnation: UInt64(number))), at: start)
        }
        #expect(nodes.running(at: start).count == ClusterLimits.nodesMax)
        nodes.received(beat(2), at: start + .seconds(1))
        echo(to: &nodes, until: .seconds(2))
        #expect(!nodes.hasEnded(other, at: start + .seconds(2)))
        nodes.removeEnded(at: start + .seconds(2))
        #expect(nodes.running(at: start + .seconds(2)).map(\.node) == [other])
    }

    @Test func restartedNodeIsAnotherNode() {
        var nodes = membership()
        nodes.received(beat(100), at: start)
        nodes.received(beat(1, of: NodeIdentity(name: "b", incarnation: 2)), at: start + .seconds(2))
        echo(to: &nodes, until: .seconds(2))
        #expect(nodes.hasEnded(other, at: start + .seconds(2)))
        #expect(nodes.running(at: start + .seconds(2)).map(\.node.incarnation) == [2])
    }

    /// Both nodes decide alike, so that exactly one goes on.
    @Test(arguments: [UInt64(3), 9]) func laterNodeYieldsASharedName(incarnation: UInt64) {
        var nodes = membership()
        let other = NodeIdentity(name: "a", incarnation: incarnation)
        for number in 1...3 as ClosedRange<UInt64> { nodes.received(beat(number, of: other), at: start) }
        #expect(!nodes.mustYieldName(to: other), "a frozen broker has kept beats of a node that has ended")
        nodes.received(beat(4, of: other), at: start + .seconds(1))
        #expect(nodes.mustYieldName(to: other) == (incarnation < local.incarnation))
        echo(to: &nodes, until: .seconds(3))
        nodes.removeEnded(at: start + .seconds(3))
        #expect(!nodes.mustYieldName(to: other), "the other one has ended")
    }
}

struct NodeBeatTests {
    private let beat = NodeBeat(
        node: NodeIdentity(name: "eu/1", incarnation: .max), number: 12, build: "0.1.0", url: "wss://a.example.org", isDraining: true,
        load: NodeLoad(busiest: 0.25, rooms: 3, participants: 8))

    @Test func beatsSurviveCoding() {
        #expect(NodeBeat(beat.bytes) == beat)
    }

    @Test func earlierVersionsDoNotSayHowManyRoomsTheyHave() {
        var earlier = beat
        earlier.load = NodeLoad(busiest: 0.25)
        #expect(NodeBeat(earlier.bytes) == earlier && earlier.bytes.count < beat.bytes.count)
    }

    @Test func fieldsOfLaterVersionsAreIgnored() {
        #expect(NodeBeat(Array(#"{"zone":["x"],"#.utf8) + beat.bytes.dropFirst()) == beat)
    }

    @Test func everythingElseIsNoBeat() {
        for count in 0..<beat.bytes.count { #expect(NodeBeat(Array(beat.bytes.prefix(count))) == nil) }
        for text in ["{}", "[]", #"{"node":"a","number":"1","build":"","draining":false,"load":0}"#, #"{"node":"a/-1"}"#] {
            #expect(NodeBeat(Array(text.utf8)) == nil, "\(text)")
        }
    }
}

struct PlacementTests {
    private func node(_ name: String, _ load: Double, isDraining: Bool = false) -> NodeBeat {
        let node = NodeIdentity(name: name, incarnation: 1)
        return NodeBeat(node: node, number: 1, build: "1", isDraining: isDraining, load: NodeLoad(busiest: load))
    }

    @Test(
        arguments: [
            (0.0, 0.0, "local"), (0.5, 0.0, "local"), (0.55, 0.5, "local"), (0.7, 0.5, "other"), (1.0, 1.0, "local"),
        ] as [(Double, Double, String)])
    func roomsStayLocalUnlessAnotherNodeHasClearlyLessToDo(local: Double, other: Double, chosen: String) {
        #expect(Placement.home(local: node("local", local), others: [node("other", other), node("busy", 1)])?.name == chosen)
    }

    @Test func drainingNodesTakeNoRooms() {
        let (local, other) = (node("local", 0, isDraining: true), node("other", 0.9))
        #expect(Placement.home(local: local, others: [other])?.name == "other")
        #expect(Placement.home(local: local, others: [node("other", 0, isDraining: true)]) == nil)
        #expect(Placement.home(local: node("local", 1), others: [node("other", 0, isDraining: true)])?.name == "local")
    }
}
