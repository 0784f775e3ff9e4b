package import Wire

/// What the room is told, by the publisher's shard alone.
extension AheadTrack {
    package var hasReports: Bool { mutating get { !facts.isEmpty } }

    package mutating func takeReports() -> [Room.PlayoutQueueReport] {
        defer { facts.removeAll() }
        return facts
    }

    /// Looks at what is to be told now, and forgets what is old.
    ///
    /// - Returns: when there is something to come back for; nil if there is nothing.
    package mutating func settle(at now: Instant) -> Instant? {
        forgetOld(at: now)
        if sid != nil {
            reportDrained(at: now)
            if let fact = backlog.look(queuedMilliseconds: queuedMilliseconds(at: now), at: now) { tell(fact) }
        }
        let isIdle = queue.start == queue.end && hasReportedDrained && (sid == nil || backlog.isSettled)
        return isIdle ? nil : nextLook(after: now)
    }

    /// Until when nothing is due, nor to be told, unless something is done to the track; a second at most, for what is to be forgotten.
    private func nextLook(after now: Instant) -> Instant {
        var next = now + .seconds(1)
        if !isPaused {
            if let due = reference.nextDue(in: queue) { next = min(next, due) }
            for subscriber in subscribers {
                if let due = subscriber.cursor.nextDue(in: queue) { next = min(next, due) }
            }
        }
        guard sid != nil else { return next }
        if !hasReportedDrained, reference.offset == queue.end { next = min(next, reference.playedOut + (.zero - Limits.aheadDryNotice)) }
        return backlog.isSettled ? next : min(next, now + Self.backlogLook)
    }

    private static let backlogLook: Duration = .milliseconds(100)

    /// How much audio is still to be played, by the reference's clock.
    package func queuedMilliseconds(at now: Instant) -> Int {
        if isPaused, reference.offset < queue.end {
            let waiting = publishedEnd?.distance(from: queue.entry(at: reference.offset).timestamp) ?? 0
            return max(0, Int(waiting) / MediaTime.ticksPerMillisecond)
        }
        let end = reference.offset < queue.end ? publishedEnd.flatMap { reference.clock?.instant(of: $0) } : reference.playedOut
        return max(0, Int((end.map { $0 - now } ?? .zero).inMilliseconds))
    }

    mutating func tell(_ fact: Room.PlayoutQueueReport) {
        if sid != nil { facts.append(fact) }
    }

    /// A frame came when everything before it had been let out.
    mutating func noteTaken(_ clockGoesOn: Bool, _ time: MediaTime, _ offset: Int) {
        if clockGoesOn {
            if hasReportedDrained { tell(.refilled(epoch: epoch)) }
            hasReportedDrained = false
        } else {
            clockStart = offset
            noteStarted(at: time, hadRunDry: true)
        }
    }

    /// The reference's clock is a new one.
    mutating func noteStarted(at time: MediaTime, hadRunDry: Bool) {
        guard let playsAt = reference.clock?.instant(of: time) else { return }
        if hadRunDry, !hasReportedDrained, let end = reference.endOfOutput { tell(.drained(epoch: epoch, end: end)) }
        hasReportedDrained = false
        tell(.started(epoch: epoch, at: time, playsAt: playsAt))
    }

    /// Told when little is left to play, not at once: a publisher that goes on in time, piece by piece, has not run dry.
    private mutating func reportDrained(at now: Instant) {
        guard !hasReportedDrained, reference.offset == queue.end, reference.playedOut < now + Limits.aheadDryNotice,
            let end = reference.endOfOutput
        else { return }
        hasReportedDrained = true
        tell(.drained(epoch: epoch, end: end))
    }
}
