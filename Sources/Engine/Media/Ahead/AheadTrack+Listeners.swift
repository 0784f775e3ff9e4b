package import Wire

extension AheadTrack {
    // Mutating, so that the track is looked at where it is: a copy costs reference counts.

    package var subscriberCount: Int { mutating get { subscribers.count } }

    /// The slot of a subscriber, by its place among them.
    package mutating func slot(ofSubscriber index: Int) -> UInt32 { subscribers[index].slot }

    /// Where a subscriber is among them; nil if it is none.
    package mutating func subscriber(at slot: UInt32) -> Int? { subscribers.firstIndex { $0.slot == slot } }

    /// Somebody listens from what plays next, by the same clock as everybody.
    ///
    /// - Parameter from: where one goes on that has heard the track before; what was let out since then plays from now on, by a clock of its own.
    package mutating func add(subscriber slot: UInt32, from: MediaTime?, at now: Instant) {
        guard subscriber(at: slot) == nil else { return }
        let next = offsetOfNextToPlay(at: now)
        if let from, let offset = offset(ofFrameAt: from, before: next) {
            var cursor = AheadCursor(offset: offset, at: now)
            cursor.startClock(at: queue.entry(at: offset).timestamp, now: now)
            subscribers.append(Subscriber(slot: slot, cursor: cursor))
        } else {
            subscribers.append(Subscriber(slot: slot, cursor: reference.joining(at: next, now: now)))
        }
    }

    package mutating func remove(subscriber slot: UInt32) {
        subscribers.removeAll { $0.slot == slot }
    }

    /// The first frame that plays from now on by the reference's clock.
    func offsetOfNextToPlay(at now: Instant) -> Int {
        guard !isPaused, let clock = reference.clock else { return reference.offset }
        var offset = max(queue.start, clockStart)
        while offset < reference.offset {
            let entry = queue.entry(at: offset)
            if clock.instant(of: entry.timestamp) >= now { break }
            offset = entry.next
        }
        return offset
    }

    /// The first frame that is kept and not before that time; nil if that is none before `end`.
    func offset(ofFrameAt time: MediaTime, before end: Int) -> Int? {
        var offset = queue.start
        while offset < end {
            let entry = queue.entry(at: offset)
            if entry.timestamp.distance(from: time) >= 0 { return offset }
            offset = entry.next
        }
        return nil
    }
}
