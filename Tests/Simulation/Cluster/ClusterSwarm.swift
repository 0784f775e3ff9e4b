internal import Wire

/// What happens in one world of a cluster. Half of all faults are absent in each, so that frequent ones do not hide rare ones.
package struct ClusterSwarm: Sendable {
    package var nodeCount = 5
    var roomCount: Int
    var clientsPerRoom: Int
    /// One way, between a node and the broker, and between a client and a node.
    var latencyMax: Duration
    /// How much faster or slower a node's clock runs.
    var clockDrift: Double
    /// Mean time between two faults of a kind; nil for none.
    var faults: [Fault: Duration] = [:]
    /// Share of the messages between nodes that are lost, repeated, and overtaken by later ones.
    var lost = 0.0
    var repeated = 0.0
    var reordered = 0.0
    /// Share of messages that are garbage.
    var garbage = 0.0
    /// Two nodes have one name.
    var sharesName: Bool
    /// A node of a later version writes fields that others do not know.
    var hasLaterNode: Bool
    /// Rooms are closed while clients are in them.
    var closesFullRooms: Bool

    enum Fault: CaseIterable {
        case kill, suspend, drain
        case cutFromBroker, cutFromClients, cutFromStore, slowLink
        /// From everything, while the process goes on.
        case isolate
        /// From clients, and its beats are lost, though it reaches the broker.
        case mute
        case brokerStops, brokerLosesWrites, brokerLosesData, storeStops
        /// The broker stands still, while the connections to it stay open; then it goes on with what it was sent.
        case brokerFreezes
        /// The broker refuses snapshots that are bigger than the ones before.
        case brokerRefuses
        /// All nodes end and start at once.
        case killAll
        /// All clients ask the same node at once.
        case rush
    }

    init(drawnFrom random: inout SplitMix64) {
        roomCount = random.between(1, 6)
        clientsPerRoom = random.between(1, 3)
        latencyMax = random.pick([.milliseconds(1), .milliseconds(20), .milliseconds(100)])!
        clockDrift = random.chance(0.5) ? 0.05 : 0
        for fault in Fault.allCases where random.chance(0.5) {
            faults[fault] = random.pick([.seconds(3), .seconds(8), .seconds(20)])!
        }
        if random.chance(0.3) { lost = 0.05 }
        if random.chance(0.3) { repeated = 0.1 }
        if random.chance(0.3) { reordered = 0.1 }
        if random.chance(0.3) { garbage = 0.05 }
        sharesName = random.chance(0.15)
        hasLaterNode = random.chance(0.3)
        closesFullRooms = random.chance(0.5)
    }

    /// The broker may lose what it has acknowledged, so that promises are worth less.
    var losesAcknowledgedWrites: Bool { faults[.brokerLosesWrites] != nil || faults[.brokerLosesData] != nil }

    package var summary: String {
        let kinds = faults.map { "\($0.key) every \($0.value)" }.sorted().joined(separator: ", ")
        let messages = "messages: lost \(lost), repeated \(repeated), reordered \(reordered), garbage \(garbage)"
        let odd = [(sharesName, "a shared name"), (hasLaterNode, "a later version"), (closesFullRooms, "full rooms close")]
            .filter(\.0).map { ", " + $0.1 }.joined()
        return "\(roomCount) rooms of \(clientsPerRoom), latency up to \(latencyMax), drift \(clockDrift)\(odd); \(kinds); \(messages)"
    }
}
