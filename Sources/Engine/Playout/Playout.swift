internal import Wire

/// The playout of one `ahead` track: which part was played, and what to report about it.
///
/// Combines reports of the publisher's queue, reports of subscribers and requests, and returns outcomes in order. An utterance
/// begins with the first frame released while nothing plays, and ends when its last frame has played, or at a clear. Marks and
/// clears are answered exactly once; `end` returns those left when the track ends.
struct Playout: Sendable {
    enum Outcome: Sendable, Hashable {
        /// An utterance has started.
        case started(at: MediaTime)
        case marked(name: String, MarkStatus, at: MediaTime?)
        /// The utterance has ended.
        case finished(HeardPosition)
    }

    struct Mark: Sendable {
        var time: MediaTime
        var name: String
        var since: Instant
    }

    /// The current epoch; reports of another one are ignored.
    var epoch: UInt8
    var utterance: Utterance?
    /// Pending marks, in the order in which they were set.
    var marks: [Mark] = []
    /// Clears that await the publisher's shard, oldest first.
    var clears: [Clear] = []
    /// The furthest position played in any epoch.
    var furthest: MediaTime?
    /// End of the previous epoch when it was cleared.
    var clearedUpTo: MediaTime?
    /// Nothing was released since the last clear.
    var isFresh = false
    /// End of the last utterance, by the clock.
    private(set) var lastEnd: (time: MediaTime, at: Instant)?
    /// When playout last stopped.
    var quietSince: Instant
    /// Publishing position of the utterance, as reported last.
    var received: MediaTime?
    /// Frames were dropped since the last utterance began.
    var hasDrops = false
    /// Position from which the queue retains released frames, and when it was set.
    var retained: (from: MediaTime, at: Instant)?
    /// Subscribers that report their progress.
    private(set) var reporters: [Identity] = []

    init(epoch: UInt8 = 0, reporters: [Identity] = [], at now: Instant) {
        self.epoch = epoch
        self.reporters = reporters
        quietSince = now
    }

    /// Handles a report of the queue, except `received`, `backlog` and `cleared`.
    mutating func apply(_ report: Room.PlayoutQueueReport, at now: Instant, into outcomes: inout [Outcome]) {
        switch report {
        case .started(let epoch, let time, let playsAt):
            recordStart(of: epoch, at: time)
            if epoch == self.epoch { start(at: time, playsAt: playsAt, now: now, into: &outcomes) }
        case .drained(epoch, let end): if let offset = utterance?.offset(of: end) { utterance?.clock.drain(at: offset) }
        case .refilled(epoch):
            if utterance != nil {
                utterance?.refill(at: now)
            } else if let lastEnd {
                // Refilled just as its end was reported.
                start(at: lastEnd.time, playsAt: lastEnd.at, now: now, into: &outcomes)
            }
        default: break
        }
        processDue(at: now, into: &outcomes)
    }

    /// Handles a subscriber's progress. Reports of another epoch are ignored.
    ///
    /// - Parameter buffered: ticks.
    mutating func applyProgress(
        played: MediaTime?, buffered: Int, epoch: UInt8, from subscriber: Identity, at now: Instant, into outcomes: inout [Outcome]
    ) {
        guard epoch == self.epoch else { return }
        if !reporters.contains(subscriber) { reporters.append(subscriber) }
        utterance?.apply(played: played, buffered: buffered, from: subscriber, at: now)
        processDue(at: now, into: &outcomes)
    }

    /// The position from which to retain frames, if the queue must learn it now.
    mutating func retentionUpdate(at now: Instant) -> MediaTime? {
        guard let least = utterance?.leastReported else { return nil }
        if let retained, retained.at + Limits.aheadRetentionInterval > now, least.distance(from: retained.from) >= 0 { return nil }
        retained = (least, now)
        return least
    }

    /// Whether retention must end because no reporting subscriber is left.
    mutating func endRetention() -> Bool {
        guard reporters.isEmpty, retained != nil else { return false }
        retained = nil
        return true
    }

    /// Removes a subscriber.
    mutating func remove(_ subscriber: Identity, at now: Instant) {
        reporters.removeAll { $0 == subscriber }
        utterance?.remove(subscriber, at: now)
    }

    /// The track was muted or held: its queue stops.
    mutating func pause(at now: Instant) {
        utterance?.clock.pause(at: now)
    }

    /// More was published than has been released.
    mutating func recordReceived(upTo end: MediaTime, of epoch: UInt8) {
        if epoch == self.epoch, utterance != nil { received = end }
    }

    /// End of what was published of the utterance, as far as known; nil if there is no utterance.
    func end(at now: Instant) -> MediaTime? {
        utterance.map { utterance in
            utterance.time(at: max(utterance.clock.release(at: now), received.map(utterance.offset) ?? 0))
        }
    }

    /// Frames were dropped: marks that are never reached belonged to those.
    mutating func recordDrops() {
        hasDrops = true
    }

    /// The position played, for reports.
    func heard(at now: Instant) -> HeardPosition {
        guard let utterance else { return HeardPosition(playedTs: nil, playedMs: 0, isEstimated: reporters.isEmpty) }
        let offset = utterance.heard(at: now)
        return HeardPosition(
            playedTs: offset > 0 ? utterance.time(at: offset).ticks : nil, playedMs: offset / MediaTime.ticksPerMillisecond,
            isEstimated: utterance.isEstimated)
    }

    private mutating func start(at time: MediaTime, playsAt: Instant, now: Instant, into outcomes: inout [Outcome]) {
        if let utterance, isStalled(utterance, at: now) { abandon(utterance, at: now, into: &outcomes) }
        if utterance != nil {
            utterance?.restartClock(at: time, playsAt: playsAt, now: now)
            return
        }
        if isFresh { answerMarksOfCleared(upTo: time, into: &outcomes) }
        var utterance = Utterance(first: time, playsAt: playsAt, isAwaitingReports: !reporters.isEmpty, at: now)
        // The end of the last utterance may have been reported before it was known to be nearer.
        if !isFresh, let furthest, utterance.offset(of: furthest) <= UtteranceClock.leadTicks {
            utterance.settle(at: utterance.offset(of: furthest))
        }
        (isFresh, hasDrops, received) = (false, false, nil)
        self.utterance = utterance
        outcomes.append(.started(at: time))
    }

    /// Ends the utterance and keeps what later reports refer to.
    mutating func close(at now: Instant) {
        guard let utterance else { return }
        let offset = utterance.heard(at: now)
        if offset > 0 { furthest = utterance.time(at: offset) }
        lastEnd = utterance.clock.end.map { (utterance.time(at: $0.offset), $0.at) }
        quietSince = lastEnd.map { max($0.at, utterance.movedAt) } ?? now
        (self.utterance, received) = (nil, nil)
    }

    mutating func discardLastEnd() {
        lastEnd = nil
    }
}

/// Clears. The position is settled when the clear is requested; only the publisher's shard knows the end of the queue, and reports
/// it with `cleared`. More clears may be requested meanwhile.
extension Playout {
    /// A clear that awaits its report.
    struct Clear: Sendable {
        /// The new epoch.
        var epoch: UInt8
        var requester: Requester
        var by: Identity
        var reason: String?
        var heard: HeardPosition
        /// First frame of the utterance, if any was released.
        var first: MediaTime?
        /// Latest known publishing position.
        var end: MediaTime?
        /// Furthest position ever played.
        var furthest: MediaTime?
        var marks: [Mark]

        /// Milliseconds of the utterance that were published but not played.
        var discardedMilliseconds: Int {
            guard let end, let from = heard.playedTs.map(MediaTime.init(ticks:)) ?? first else { return 0 }
            return max(0, Int(end.distance(from: from))) / MediaTime.ticksPerMillisecond
        }

        var interruption: Transcript.Interruption {
            Transcript.Interruption(heard: heard.playedTs.map(MediaTime.init(ticks:)), furthest: furthest, first: first, end: end)
        }
    }

    /// Starts the next epoch, in which nothing has played yet.
    mutating func clear(by identity: Identity, requester: Requester, reason: String?, at now: Instant) {
        let heard = heard(at: now)
        let (first, end) = (utterance?.first, end(at: now))
        close(at: now)
        discardLastEnd()
        (quietSince, hasDrops) = (now, false)
        epoch &+= 1
        isFresh = true
        clears.append(
            Clear(
                epoch: epoch, requester: requester, by: identity, reason: reason, heard: heard, first: first, end: end, furthest: furthest,
                marks: marks))
        marks = []
    }

    /// - Returns: the clears completed by this report, usually one.
    mutating func completeClears(upTo epoch: UInt8, end: MediaTime?) -> [Clear] {
        guard let last = clears.firstIndex(where: { $0.epoch == epoch }) else { return [] }
        var done = Array(clears[...last])
        clears.removeSubrange(...last)
        if let end {
            done[last].end = end
            clearedUpTo = end
        }
        return done
    }

    /// An utterance may have started just before the clear, with its report arriving after it.
    mutating func recordStart(of epoch: UInt8, at time: MediaTime) {
        guard let index = clears.firstIndex(where: { $0.epoch == epoch &+ 1 }), clears[index].first == nil else { return }
        clears[index].first = time
    }

    /// The played part of the current utterance; nil if there is none.
    func interruption(at now: Instant) -> Transcript.Interruption? {
        guard let utterance else { return nil }
        let heard = heard(at: now).playedTs.map(MediaTime.init(ticks:))
        return Transcript.Interruption(
            heard: heard, furthest: heard ?? furthest, first: utterance.first, end: end(at: now))
    }

    /// - Returns: the clears and marks still to be answered.
    mutating func end() -> (clears: [Clear], marks: [Mark]) {
        defer { (clears, marks) = ([], []) }
        return (clears, marks)
    }
}
