package import Wire

/// Which nodes are running, as far as one node can tell from the beats that it receives.
///
/// A node has ended if it has been silent for `ClusterLimits.nodeSilence` on the observer's monotonic clock, so that clocks of different
/// machines are never compared. Time in which the observer could not have received beats does not count: while the broker did not return
/// the observer's own beats, because the connection was lost or the broker stood still, or while the observer was suspended.
package struct Membership: Sendable {
    private struct Sight {
        var beat: NodeBeat
        var at: Instant
        /// When its first beat was received.
        let since: Instant
    }

    package let local: NodeIdentity
    private var sights: [NodeIdentity: Sight] = [:]
    package private(set) var isConnected = false
    /// Since when beats are received without interruption. Counts only while this node hears itself.
    private var observingSince: Instant
    private var calledAt: Instant
    /// When a beat of this node itself came back; nil if none has on the present connection.
    private var echoedAt: Instant?

    package init(local: NodeIdentity, at now: Instant) {
        (self.local, observingSince, calledAt) = (local, now, now)
    }

    package mutating func connected() { (isConnected, echoedAt) = (true, nil) }

    package mutating func disconnected() { (isConnected, echoedAt) = (false, nil) }

    /// To be called before everything else at that time.
    ///
    /// - Returns: whether this process was suspended.
    package mutating func noteTime(_ now: Instant) -> Bool {
        defer { calledAt = now }
        guard now - calledAt >= ClusterLimits.suspensionMin else { return false }
        observingSince = now
        return true
    }

    /// Whether the broker returns this node's own beats. If not, others may consider it ended, and their silence says nothing about them.
    package func hearsItself(at now: Instant) -> Bool { echoedAt.map { now - $0 < ClusterLimits.echoSilence } ?? false }

    /// Notes a beat. Repeated and overtaken ones of others change nothing.
    package mutating func received(_ beat: NodeBeat, at now: Instant) {
        guard beat.node != local else { return noteEcho(at: now) }
        let known = sights[beat.node]
        guard known.map({ $0.beat.number < beat.number }) ?? (sights.count < ClusterLimits.nodesMax) else { return }
        sights[beat.node] = Sight(beat: beat, at: now, since: known?.since ?? now)
    }

    private mutating func noteEcho(at now: Instant) {
        guard isConnected else { return }
        // The observation of the others starts anew.
        if !hearsItself(at: now) { observingSince = now }
        echoedAt = now
    }

    /// Whether another node that runs has this node's name. The later one of both, by incarnation, has to end.
    ///
    /// Its beats must have arrived for some time: a broker that was frozen delivers those of an earlier process of this node at once.
    package func mustYieldName(to other: NodeIdentity) -> Bool {
        guard other.name == local.name, other.incarnation < local.incarnation, let sight = sights[other] else { return false }
        return sight.at - sight.since >= ClusterLimits.echoSilence
    }

    /// Whether a node has certainly been silent for long enough. False while this node does not hear itself.
    package func hasEnded(_ node: NodeIdentity, at now: Instant) -> Bool {
        guard node != local, hearsItself(at: now) else { return false }
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
