import Wire

/// What a clear does. Everything is settled at the moment it is asked for; only up to where the track had been published is known by its
/// publisher's shard alone, and comes back with `cut`. Until then another clear may come.
extension Playout {
    /// A clear that waits for its `cut`.
    struct Clear: Sendable {
        /// The new epoch.
        var epoch: UInt8
        var requester: Requester
        var by: Identity
        var reason: String?
        var heard: HeardPosition
        /// The utterance's first frame, if anything was let out of it.
        var first: MediaTime?
        /// The latest that is known to have been published.
        var end: MediaTime?
        /// Furthest of all that was ever heard.
        var furthest: MediaTime?
        var marks: [Mark]

        /// Milliseconds that were published of the utterance and not heard.
        var discardedMilliseconds: Int {
            guard let end, let from = heard.playedTs.map(MediaTime.init(ticks:)) ?? first else { return 0 }
            return max(0, Int(end.distance(from: from))) / MediaTime.ticksPerMillisecond
        }
    }

    /// Begins the next epoch, in which nothing has been heard yet.
    mutating func clear(by identity: Identity, requester: Requester, reason: String?, at now: Instant) {
        let heard = heard(at: now)
        let (first, end) = (utterance?.first, utterance.map { $0.time(at: $0.clock.release(at: now)) })
        close(at: now)
        forgetEnd()
        (quietSince, wasRefused) = (now, false)
        epoch &+= 1
        isFresh = true
        clears.append(
            Clear(
                epoch: epoch, requester: requester, by: identity, reason: reason, heard: heard, first: first, end: end, furthest: furthest,
                marks: marks))
        marks = []
    }

    /// The publisher's shard has cleared: gives the clears that are done by that, nearly always one.
    mutating func cut(_ epoch: UInt8, end: MediaTime?) -> [Clear] {
        guard let last = clears.firstIndex(where: { $0.epoch == epoch }) else { return [] }
        var done = Array(clears[...last])
        clears.removeSubrange(...last)
        if let end {
            done[last].end = end
            clearedUpTo = end
        }
        return done
    }

    /// An utterance may have begun just before it was cleared, and the word of it come only now.
    mutating func noteStart(of epoch: UInt8, at time: MediaTime) {
        guard let index = clears.firstIndex(where: { $0.epoch == epoch &+ 1 }), clears[index].first == nil else { return }
        clears[index].first = time
    }

    /// What was heard of the utterance that is being played; nil if none is.
    func interruption(at now: Instant) -> Transcript.Interruption? {
        guard let utterance else { return nil }
        let heard = heard(at: now).playedTs.map(MediaTime.init(ticks:))
        return Transcript.Interruption(
            heard: heard, furthest: heard ?? furthest, first: utterance.first,
            end: utterance.time(at: utterance.clock.release(at: now)))
    }

    /// The track ends: gives what still wants an answer.
    mutating func end() -> (clears: [Clear], marks: [Mark]) {
        defer { (clears, marks) = ([], []) }
        return (clears, marks)
    }
}
