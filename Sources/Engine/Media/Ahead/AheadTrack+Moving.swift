package import Wire

/// A track whose publisher comes back on another shard (PROTOCOL section 7).
extension AheadTrack {
    /// What the new publisher's shard gets; here only subscribers are left.
    package mutating func handOver() -> AheadTrack {
        var copy = self
        copy.subscribers = []
        copy.subscriptions = 0
        (copy.isActive, copy.isFresh) = (false, false)
        sid = nil
        facts = []
        waitingFrames = 0
        pendingReplays = []
        return copy
    }

    /// The track is published here from now on.
    package mutating func becomeReference(_ sid: TrackSID) {
        self.sid = sid
        awaitedReplay = nil
        // What was let out by now was shown to the meter where it was published.
        metered = reference.offset
    }

    /// Goes on as the queue did that came along. One that was heard here has the same frames already, and its own count of bytes: it
    /// only learns what has been told of them. But one that was to get them after a pause has them now.
    ///
    /// - Returns: whether it is that queue now, so that what is still on its way from there is in it.
    @discardableResult
    package mutating func takeOver(_ other: AheadTrack) -> Bool {
        let isOwed = other.pendingReplays.contains { $0.shard == publisher.shard }
        guard subscribers.isEmpty || isOwed else {
            (backlog, hasReportedDrained, publishedEnd, facts) = (other.backlog, other.hasReportedDrained, other.publishedEnd, other.facts)
            pendingReplays += other.pendingReplays
            metered = reference.offset
            return false
        }
        let mine = self
        self = other
        (subscriptions, isActive, isFresh) = (mine.subscriptions, mine.isActive, mine.isFresh)
        formerPublisher = mine.formerPublisher
        cancelReplay(to: publisher.shard)
        subscribers = mine.subscribers.map { Subscriber(slot: $0.slot, cursor: reference) }
        return true
    }
}
