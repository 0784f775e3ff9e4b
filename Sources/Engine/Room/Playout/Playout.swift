package import Wire

/// What becomes of one `ahead` track's audio: which of it was heard, and who is told so.
///
/// Takes in what the queue on the publisher's shard tells, what subscribers report and what is asked about, and gives what is to be told,
/// in order. Utterances follow each other: one begins with the first frame that is let out while nothing plays, and ends when its last
/// was heard, or at a clear. Marks and clears are answered exactly once; those that remain when the track ends are taken out by `end`.
package struct Playout: Sendable {
    package enum Outcome: Sendable, Hashable {
        /// An utterance begins.
        case started(at: MediaTime)
        case marked(name: String, MarkStatus, at: MediaTime?)
        /// The utterance is over.
        case finished(HeardPosition)
    }

    struct Mark: Sendable {
        var time: MediaTime
        var name: String
        var since: Instant
    }

    /// The current one; what is said of another is passed over.
    package internal(set) var epoch: UInt8
    package internal(set) var utterance: Utterance?
    /// Not yet answered, in the order in which they were set.
    var marks: [Mark] = []
    /// Not yet done by the publisher's shard, oldest first.
    var clears: [Clear] = []
    /// The furthest that was ever heard, of any epoch.
    var furthest: MediaTime?
    /// Up to where the last epoch had been published when it was cleared.
    var clearedUpTo: MediaTime?
    /// Nothing was let out since the last clear.
    var isFresh = false
    /// Where and when the last utterance ended by the clock.
    private(set) var lastEnd: (time: MediaTime, at: Instant)?
    /// Since when nothing plays.
    var quietSince: Instant
    /// Frames were refused since the last utterance began.
    var wasRefused = false
    /// From where on the queue has been told to keep what it let out, and when.
    var kept: (from: MediaTime, at: Instant)?
    /// Subscribers who are known to report.
    private var reporters: [Identity] = []

    package init(epoch: UInt8 = 0, at now: Instant) {
        self.epoch = epoch
        quietSince = now
    }

    /// Takes in what the queue tells. `backlog` and `cut` are not for here.
    package mutating func take(_ fact: Room.PlayoutQueueReport, at now: Instant, into outcomes: inout [Outcome]) {
        switch fact {
        case .started(let epoch, let time, let playsAt):
            noteStart(of: epoch, at: time)
            if epoch == self.epoch { start(at: time, playsAt: playsAt, now: now, into: &outcomes) }
        case .drained(epoch, let end): if let offset = utterance?.offset(of: end) { utterance?.clock.runDry(at: offset) }
        case .refilled(epoch):
            if utterance != nil {
                utterance?.refill(at: now)
            } else if let lastEnd {
                // It was refilled just as its end was told.
                start(at: lastEnd.time, playsAt: lastEnd.at, now: now, into: &outcomes)
            }
        default: break
        }
        look(at: now, into: &outcomes)
    }

    /// Takes in how far a subscriber is. Another epoch's report came too late or too early.
    ///
    /// - Parameter buffered: ticks.
    package mutating func take(
        played: MediaTime?, buffered: Int, epoch: UInt8, from subscriber: Identity, at now: Instant, into outcomes: inout [Outcome]
    ) {
        guard epoch == self.epoch else { return }
        if !reporters.contains(subscriber) { reporters.append(subscriber) }
        utterance?.take(played: played, buffered: buffered, from: subscriber, at: now)
        look(at: now, into: &outcomes)
    }

    /// From where on somebody may want to go on, if the queue is to be told of that now.
    package mutating func keeps(at now: Instant) -> MediaTime? {
        guard let least = utterance?.leastReported else { return nil }
        if let kept, kept.at + Limits.aheadKeepInterval > now, least.distance(from: kept.from) >= 0 { return nil }
        kept = (least, now)
        return least
    }

    /// Nobody has anything to go on from any more, and the queue thinks otherwise.
    package mutating func keepsNoMore() -> Bool {
        guard reporters.isEmpty, kept != nil else { return false }
        kept = nil
        return true
    }

    /// Somebody no longer listens.
    package mutating func forget(_ subscriber: Identity, at now: Instant) {
        reporters.removeAll { $0 == subscriber }
        utterance?.forget(subscriber, at: now)
    }

    /// The track is muted or its publisher held: the queue stands still.
    package mutating func pause(at now: Instant) {
        utterance?.clock.pause(at: now)
    }

    /// Frames were refused: marks that nothing reaches are marks of those.
    package mutating func noteRefusal() {
        wasRefused = true
    }

    /// Up to where it was heard, as that is to be told.
    package func heard(at now: Instant) -> HeardPosition {
        guard let utterance else { return HeardPosition(playedTs: nil, playedMs: 0, isEstimated: reporters.isEmpty) }
        let offset = utterance.heard(at: now)
        return HeardPosition(
            playedTs: offset > 0 ? utterance.time(at: offset).ticks : nil, playedMs: offset / MediaTime.ticksPerMillisecond,
            isEstimated: utterance.isEstimated)
    }

    private mutating func start(at time: MediaTime, playsAt: Instant, now: Instant, into outcomes: inout [Outcome]) {
        if let utterance, isStalled(utterance, at: now) { giveUp(utterance, at: now, into: &outcomes) }
        if utterance != nil {
            utterance?.restartClock(at: time, playsAt: playsAt, now: now)
            return
        }
        if isFresh { answerMarksOfCleared(upTo: time, into: &outcomes) }
        var utterance = Utterance(first: time, playsAt: playsAt, isAwaitingReports: !reporters.isEmpty, at: now)
        // The last one's end may have been told before the word came that it was nearer.
        if !isFresh, let furthest, utterance.offset(of: furthest) <= UtteranceClock.leadTicks {
            utterance.settle(at: utterance.offset(of: furthest))
        }
        (isFresh, wasRefused) = (false, false)
        self.utterance = utterance
        outcomes.append(.started(at: time))
    }

    /// Ends the utterance, and remembers of it what later words refer to.
    mutating func close(at now: Instant) {
        guard let utterance else { return }
        let offset = utterance.heard(at: now)
        if offset > 0 { furthest = utterance.time(at: offset) }
        lastEnd = utterance.clock.end.map { (utterance.time(at: $0.offset), $0.at) }
        quietSince = lastEnd.map { max($0.at, utterance.movedAt) } ?? now
        self.utterance = nil
    }

    mutating func forgetEnd() {
        lastEnd = nil
    }
}
