package import Wire

/// Which nodes are running, as far as one node can tell from the beats that it receives.
///
/// A node has ended if it has been silent for `ClusterLimits.nodeSilence` on the observer's monotonic clock, so that clocks of different
/// machines are never compared. Time in which the observer could not have received beats does not count: while it had no connection to the
/// broker, or was suspended itself.
package struct Membership: Sendable {
    private struct Sight {
        var beat: NodeBeat
        var at: Instant
    }

    package let local: NodeIdentity
    private var sights: [NodeIdentity: Sight] = [:]
    /// Since when beats are received without interruption; nil without connection.
    private var observingSince: Instant?
    private var calledAt: Instant
    /// When a beat of this node itself came back.
    private var echoedAt: Instant?

    package init(local: NodeIdentity, at now: Instant) {
        (self.local, calledAt) = (local, now)
    }

    package var isConnected: Bool { observingSince != nil }

    package mutating func connected(at now: Instant) { observingSince = now }

    package mutating func disconnected() { observingSince = nil }

    /// To be called before everything else at that time.
    ///
    /// - Returns: whether this process was suspended.
    package mutating func noteTime(_ now: Instant) -> Bool {
        defer { calledAt = now }
        guard now - calledAt >= ClusterLimits.suspensionMin else { return false }
        if observingSince != nil { observingSince = now }
        return true
    }

    /// Whether the broker returns this node's own beats. If not, others may consider it ended.
    package func hearsItself(at now: Instant) -> Bool {
        guard observingSince != nil, let echoedAt else { return false }
        return now - echoedAt < ClusterLimits.echoSilence
    }

    /// Notes a beat. Repeated and overtaken ones change nothing.
    package mutating func received(_ beat: NodeBeat, at now: Instant) {
        if beat.node == local { echoedAt = now }
        guard beat.node != local, sights[beat.node].map({ $0.beat.number < beat.number }) ?? (sights.count < ClusterLimits.nodesMax) else {
            return
        }
        sights[beat.node] = Sight(beat: beat, at: now)
    }

    /// Whether another node that runs has this node's name. The later one of both, by incarnation, has to end.
    package func mustYieldName(to other: NodeIdentity) -> Bool {
        other.name == local.name && other.incarnation < local.incarnation && sights[other] != nil
    }

    /// Whether a node has certainly been silent for long enough. False while this node observes nothing.
    package func hasEnded(_ node: NodeIdentity, at now: Instant) -> Bool {
        guard node != local, let observingSince else { return false }
        let heardAt = sights[node].map { max($0.at, observingSince) } ?? observingSince
        return now - heardAt >= ClusterLimits.nodeSilence
    }

    /// The latest beats of all other nodes that have not ended, ordered by name.
    package func running(at now: Instant) -> [NodeBeat] {
        sights.values.map(\.beat).filter { !hasEnded($0.node, at: now) }
            .sorted { ($0.node.name, $0.node.incarnation) < ($1.node.name, $1.node.incarnation) }
    }

    /// Forgets nodes that have ended.
    package mutating func removeEnded(at now: Instant) {
        for node in sights.keys where hasEnded(node, at: now) { sights[node] = nil }
    }
}
