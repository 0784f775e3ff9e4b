public import Wire

/// Puts a track's frames back into order and evens out their arrival, at the price of a small delay.
///
/// A pure value: time is an argument, nothing happens on its own, equal calls give equal answers.
///
/// Use: `insert` each frame as it arrives. Whenever the loudspeaker (or a timer that stands for it) needs more sound, ask `next`, play
/// what it says for as long as it says, and ask again. So the player's own clock drives the buffer, and a drift between the two clocks ends up in
/// the delay, which is kept within bounds.
///
/// The delay begins at `targetDelay`. It grows at once when frames come too late: by the wait if there was nothing to play, by a piece of
/// concealment if sound had gone on without them. It shrinks only where nobody hears it, and only if for some seconds even the
/// slowest frame came earlier than needed: at the pause before a talkspurt, or by leaving out a frame without voice.
///
/// A gap in timestamps without one in sequence is silence (DTX); a gap in both is loss. Comparisons are modulo, so wraps need no care.
///
/// Not for the gateway, which forwards frames and never waits; and a track with a lead (`ahead`) wants its lead as
/// `targetDelay`, or the buffer would take it for jitter and catch up.
public struct JitterBuffer<Payload> {
    /// What to play next.
    public enum Output {
        /// Decode and play this.
        case frame(JitterFrame<Payload>)
        /// A frame is lost or late: conceal so many 48 kHz ticks, a multiple of 120.
        case conceal(ticks: Int)
        /// The speaker pauses: play so many 48 kHz ticks of silence or comfort noise.
        case silence(ticks: Int)
        /// There is nothing to play yet. Play silence or concealment for as long as you like and ask again.
        case wait
    }

    /// What became of a frame that was inserted.
    public enum Insertion: Hashable, Sendable {
        case accepted
        /// Its place has been played already; the delay grows.
        case late
        case duplicate
        /// It lasts less than 2.5 ms or more than 120 ms, or no multiple of 2.5 ms.
        case malformed
    }

    public let limits: JitterLimits
    public private(set) var statistics = JitterStatistics()

    /// In order of sequence, each once.
    private var queue: [Arrival] = []
    private var position: Position?
    /// When `next` first found nothing to play.
    private var drySince: Instant?
    private var history = PlayedSequences()
    private var growth = DelayGrowth()
    private var residence = ResidenceWindow()
    private var lateInARow = 0

    fileprivate struct Arrival {
        let frame: JitterFrame<Payload>
        let at: Instant
    }

    /// Where playout is: what comes next.
    private struct Position {
        var sequence: SequenceNumber
        var timestamp: MediaTime
        /// Duration of the last frame, the best guess at a lost one's.
        var ticksPerFrame: Int
    }

    public init(_ limits: JitterLimits = JitterLimits()) {
        self.limits = limits
    }

    /// How much sound waits in the buffer, gaps not counted, in 48 kHz ticks. O(frames that wait).
    public var bufferedTicks: Int { queue.reduce(0) { $0 + $1.frame.ticks } }

    public var bufferedFrames: Int { queue.count }
}

extension JitterBuffer: Sendable where Payload: Sendable {}
extension JitterBuffer.Arrival: Sendable where Payload: Sendable {}
extension JitterBuffer.Output: Sendable where Payload: Sendable {}
extension JitterBuffer.Output: Equatable where Payload: Equatable {}

// MARK: - Frames come in

extension JitterBuffer {
    /// Takes a frame that has just arrived. O(1) if it is the newest, as most are.
    ///
    /// Frames that come too late, twice, or with an impossible duration are counted and dropped.
    @discardableResult
    public mutating func insert(_ frame: JitterFrame<Payload>, at now: Instant) -> Insertion {
        statistics.received += 1
        guard (120...OpusPacket.ticksLimit).contains(frame.ticks), frame.ticks.isMultiple(of: 120) else {
            statistics.malformed += 1
            return .malformed
        }
        if let position, frame.sequence.distance(from: position.sequence) < 0 {
            return refuse(frame, at: position, now)
        }
        lateInARow = 0

        var place = queue.endIndex
        while place > 0 {
            let distance = frame.sequence.distance(from: queue[place - 1].frame.sequence)
            if distance == 0 {
                statistics.duplicate += 1
                return .duplicate
            }
            if distance > 0 { break }
            place -= 1
        }
        queue.insert(Arrival(frame: frame, at: now), at: place)
        dropOldest()
        return .accepted
    }

    /// Forgets everything but the statistics: the track begins again, in a new epoch or with another publisher.
    public mutating func reset() {
        statistics.discarded += queue.count
        var fresh = JitterBuffer(limits)
        fresh.statistics = statistics
        self = fresh
    }

    private mutating func refuse(_ frame: JitterFrame<Payload>, at position: Position, _ now: Instant) -> Insertion {
        if history.contains(frame.sequence) {
            statistics.duplicate += 1
            return .duplicate
        }
        statistics.late += 1
        lateInARow += 1
        if lateInARow >= limits.lateFramesLimit {
            // Not late, but numbered anew without anybody telling: waiting for the old numbers would mean silence for minutes.
            reset()
            return .late
        }
        let lateness = Int(position.timestamp.distance(from: frame.timestamp))
        growth.note(lateness: min(lateness, limits.delayTicks - bufferedTicks), of: frame.timestamp)
        return .late
    }

    /// Keeps frames and delay within the limits. The newest is worth most, so the oldest goes.
    private mutating func dropOldest() {
        var buffered = bufferedTicks
        while queue.count > limits.frames || (buffered > limits.delayTicks && queue.count > 1) {
            let dropped = queue.removeFirst().frame
            buffered -= dropped.ticks
            statistics.overflowed += 1
            if position != nil { advance(past: dropped) }
        }
    }
}

// MARK: - Sound goes out

extension JitterBuffer {
    /// What to play now. Ask when the sound of the answer before is used up.
    public mutating func next(at now: Instant) -> Output {
        while let head = queue.first {
            guard let position else {
                guard now - earliestArrival >= limits.targetDelay else { return .wait }
                self.position = Position(
                    sequence: head.frame.sequence, timestamp: head.frame.timestamp, ticksPerFrame: head.frame.ticks)
                continue
            }
            if drySince == nil, let ticks = growth.take(atMost: position.ticksPerFrame, at: position.timestamp) {
                statistics.stretchedTicks += ticks
                return .conceal(ticks: ticks)
            }
            let lost = head.frame.sequence.distance(from: position.sequence)
            // A timestamp that goes back is against the protocol; played in order of sequence it does no harm.
            let missing = max(Int(head.frame.timestamp.distance(from: position.timestamp)), 0)
            if let output = bridge(lost: lost, missing: missing, to: head, from: position, at: now) { return output }
            if let output = play(head, at: now) { return output }
        }
        if position != nil, drySince == nil { drySince = now }
        return .wait
    }

    private var earliestArrival: Instant {
        queue.lazy.map(\.at).min() ?? Instant(nanoseconds: 0)
    }

    /// What to play between the last frame and the next one; nil if nothing, or nothing any more.
    private mutating func bridge(lost: Int, missing: Int, to head: Arrival, from position: Position, at now: Instant) -> Output? {
        if let since = drySince {
            drySince = nil
            return comeBack(from: since, lost: lost, missing: missing, to: head, at: now)
        }
        if missing == 0 || lost == 0 || missing > limits.delayTicks { return pause(before: head, missing: missing, at: now) }
        return conceal(lost: lost, missing: missing, before: head, from: position, at: now)
    }

    /// One frame at a time: a missing one may still come, or the one after it.
    private mutating func conceal(
        lost: Int, missing: Int, before head: Arrival, from position: Position, at now: Instant
    ) -> Output? {
        let share = missing / lost / 120 * 120
        let ticks = min(position.ticksPerFrame, share)
        if ticks == 0 { return pause(before: head, missing: missing, at: now) }
        statistics.concealed += 1
        statistics.concealedTicks += ticks
        self.position?.sequence = position.sequence.next
        self.position?.timestamp = position.timestamp.advanced(by: ticks)
        return .conceal(ticks: ticks)
    }

    /// After a time with nothing to play. That time was part of the gap, if there is one; the rest of it has made the delay longer.
    private mutating func comeBack(from since: Instant, lost: Int, missing: Int, to head: Arrival, at now: Instant) -> Output? {
        let elapsed = max(MediaTime.ticks(in: now - since), 0)
        growth.forgive(elapsed)
        let left = max(missing - elapsed, 0)
        if lost == 0, missing > 0 || head.frame.startsTalkspurt {
            // A talkspurt begins with a full buffer, or its first slow frame would be heard.
            return pause(before: head, missing: max(left, limits.targetTicks - waited(head, at: now)), at: now)
        }
        position?.timestamp = head.frame.timestamp.advanced(by: -left)
        guard let position else { return nil }
        return bridge(lost: lost, missing: left, to: head, from: position, at: now)
    }

    /// Goes on to the next frame, after silence in the place of what is missing: less of it, if the delay is longer than needed.
    private mutating func pause(before head: Arrival, missing: Int, at now: Instant) -> Output? {
        let needed = max(limits.targetTicks - waited(head, at: now), 0)
        // More than the limit is a timestamp that jumped: a speaker's pause is over when his next frame comes.
        let missing = min(missing, limits.delayTicks)
        let skipped = min(residence.excess(over: limits.targetTicks), max(missing - needed, 0))
        residence.shrink(by: skipped)
        statistics.skippedTicks += skipped
        if let position { statistics.concealed += max(head.frame.sequence.distance(from: position.sequence), 0) }
        position?.sequence = head.frame.sequence
        position?.timestamp = head.frame.timestamp
        return missing > skipped ? .silence(ticks: missing - skipped) : nil
    }

    private func waited(_ arrival: Arrival, at now: Instant) -> Int {
        MediaTime.ticks(in: now - arrival.at)
    }

    /// Nil if the frame is left out to catch up.
    private mutating func play(_ head: Arrival, at now: Instant) -> Output? {
        queue.removeFirst()
        advance(past: head.frame)
        history.insert(head.frame.sequence)
        if !head.frame.isVoice, residence.excess(over: limits.targetTicks) >= head.frame.ticks {
            residence.shrink(by: head.frame.ticks)
            statistics.skipped += 1
            statistics.skippedTicks += head.frame.ticks
            return nil
        }
        residence.note(waited(head, at: now))
        statistics.played += 1
        statistics.delay = now - head.at
        return .frame(head.frame)
    }

    private mutating func advance(past frame: JitterFrame<Payload>) {
        position = Position(
            sequence: frame.sequence.next, timestamp: frame.timestamp.advanced(by: frame.ticks), ticksPerFrame: frame.ticks)
    }
}
