/// Decides which nodes have ended, from repeated observations of their beats. A node has ended if its beat has not changed for
/// `StoreLimits.nodeSilence` on the observer's monotonic clock, so that clocks of different machines are never compared.
struct NodeWatch {
    private struct Sight {
        var beat: Int64
        /// When the beat was first seen.
        var since: ContinuousClock.Instant
    }

    private var sights: [NodeID: Sight] = [:]
    private var lastObservation: ContinuousClock.Instant?

    /// - Parameters:
    ///   - beats: of all other nodes.
    /// - Returns: the nodes that have ended.
    mutating func observe(_ beats: [NodeID: Int64], at now: ContinuousClock.Instant) -> [NodeID] {
        // If this process or the database was suspended, the others may have been as well.
        if let last = lastObservation, now - last > StoreLimits.nodeObservationGapMax { sights = [:] }
        lastObservation = now
        sights = beats.reduce(into: [:]) { next, node in
            let known = sights[node.key]
            next[node.key] = known?.beat == node.value ? known : Sight(beat: node.value, since: now)
        }
        return sights.filter { now - $0.value.since >= StoreLimits.nodeSilence }.map(\.key)
    }
}
