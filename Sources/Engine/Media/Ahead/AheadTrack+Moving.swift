package import Wire

/// A track whose publisher comes back on another shard (PROTOCOL section 7).
extension AheadTrack {
    /// What the new publisher's shard gets; here only listeners are left.
    package mutating func handOver() -> AheadTrack {
        var copy = self
        copy.listeners = []
        copy.subscriptions = 0
        (copy.isActive, copy.isFresh) = (false, false)
        sid = nil
        facts = []
        waitingFrames = 0
        replaysOwed = []
        return copy
    }

    /// The track is published here from now on.
    package mutating func becomeReference(_ sid: TrackSID) {
        self.sid = sid
        awaitsReplay = false
    }

    /// Goes on as the queue did that came along. One that was heard here has the same frames already, and its own count of bytes: it
    /// only learns what has been told of them. But one that was to get them after a pause has them now.
    package mutating func takeOver(_ other: AheadTrack) {
        let isOwed = other.replaysOwed.contains(publisher.shard)
        guard listeners.isEmpty || isOwed else {
            (backlog, hasToldDry, publishedEnd, facts) = (other.backlog, other.hasToldDry, other.publishedEnd, other.facts)
            replaysOwed += other.replaysOwed
            metered = reference.offset
            return
        }
        let mine = self
        self = other
        (subscriptions, isActive, isFresh) = (mine.subscriptions, mine.isActive, mine.isFresh)
        replaysOwed.removeAll { $0 == publisher.shard }
        listeners = mine.listeners.map { Listener(seat: $0.seat, cursor: reference) }
    }
}
