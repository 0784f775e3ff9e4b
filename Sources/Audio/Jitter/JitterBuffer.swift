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
/// concealment if sound had gone on without them. The target grows with the stalls of the path (`StallHistory`) and comes down when they
/// are forgotten. A delay beyond the target shrinks where nobody hears it, at the pause before a talkspurt or by leaving out frames
/// without voice; where there is no pause, `pace` asks to play a little faster, and what an outage has piled up is left out.
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
    private var timing: ArrivalTiming
    private var lateInARow = 0
    /// How the frame that `next` gave last is to be played.
    public private(set) var pace = JitterPace.even
    /// Whether sound was left out right before that frame.
    public private(set) var hasSkipped = false
    private var framesSincePace = 0

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

    /// - Parameter expectedStall: how long the path will stall when it does. A connection that repairs loss stalls for a round trip and one
    ///   more frame: whoever knows the round trip is prepared for the first one. Forgotten if there is none.
    public init(_ limits: JitterLimits = JitterLimits(), expectedStall: Duration = .zero) {
        self.limits = limits
        timing = ArrivalTiming(expectedStallTicks: MediaTime.ticks(in: expectedStall))
    }

    /// How much sound waits in the buffer, gaps not counted, in 48 kHz ticks. O(frames that wait).
    public var bufferedTicks: Int { queue.reduce(0) { $0 + $1.frame.ticks } }

    public var bufferedFrames: Int { queue.count }

    /// The frame that comes next, if it is here: what it knows of the one before it (FEC) may be worth having.
    public var upcoming: JitterFrame<Payload>? {
        guard let head = queue.first?.frame, head.sequence == position?.sequence else { return nil }
        return head
    }
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
        timing.note(frame.timestamp, at: now)

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
        hasSkipped = false
        while let head = queue.first {
            guard let position else {
                guard MediaTime.ticks(in: now - earliestArrival) >= targetTicks(at: now) else { return .wait }
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
        if lost > 0, missing > 0, timing.isSettled {
            // No more in its place than until the next frame is due: a hole is where a delay shrinks, too.
            let left = min(max(targetTicks(at: now) - timing.age(of: head.frame.timestamp, at: now), 0), missing)
            if left < missing {
                statistics.skippedTicks += missing - left
                hasSkipped = true
                self.position?.timestamp = head.frame.timestamp.advanced(by: -left)
                return bridge(lost: lost, missing: left, to: head, from: self.position ?? position, at: now)
            }
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
            return pause(before: head, missing: max(left, targetTicks(at: now) - waited(head, at: now)), at: now)
        }
        statistics.underruns += 1
        statistics.underrunTicks += elapsed
        position?.timestamp = head.frame.timestamp.advanced(by: -left)
        guard let position else { return nil }
        return bridge(lost: lost, missing: left, to: head, from: position, at: now)
    }

    /// Goes on to the next frame, after silence in the place of what is missing: as much as makes the delay what it should be.
    private mutating func pause(before head: Arrival, missing: Int, at now: Instant) -> Output? {
        // More than the limit is a timestamp that jumped: a speaker's pause is over when his next frame comes.
        var silence = min(missing, limits.delayTicks)
        if timing.isSettled, missing > 0 {
            let target = targetTicks(at: now)
            silence = min(max(target - timing.age(of: head.frame.timestamp, at: now), 0), max(silence, target), limits.delayTicks)
        }
        statistics.skippedTicks += max(missing - silence, 0)
        if let position { statistics.concealed += max(head.frame.sequence.distance(from: position.sequence), 0) }
        position?.sequence = head.frame.sequence
        position?.timestamp = head.frame.timestamp
        return silence > 0 ? .silence(ticks: silence) : nil
    }

    private func waited(_ arrival: Arrival, at now: Instant) -> Int {
        MediaTime.ticks(in: now - arrival.at)
    }

    private mutating func targetTicks(at now: Instant) -> Int {
        min(max(limits.targetTicks, timing.neededTicks(at: now)), max(limits.targetTicks, limits.delayTicks / 2))
    }

    /// Nil if the frame is left out to catch up.
    private mutating func play(_ head: Arrival, at now: Instant) -> Output? {
        let target = targetTicks(at: now)
        queue.removeFirst()
        advance(past: head.frame)
        history.insert(head.frame.sequence)
        let age = timing.isSettled ? timing.age(of: head.frame.timestamp, at: now) : target
        if isLeftOut(head.frame, excess: age - target, target: target) {
            statistics.skipped += 1
            statistics.skippedTicks += head.frame.ticks
            hasSkipped = true
            return nil
        }
        setPace(for: head.frame, excess: age - target, at: now)
        statistics.played += 1
        statistics.delay = now - head.at
        // Clocks that jump are told as a minute.
        statistics.playoutDelay = timing.isSettled ? .ticks(min(max(age, 0), 60 * MediaTime.ticksPerSecond)) : now - head.at
        statistics.targetDelay = .ticks(target)
        return .frame(head.frame)
    }

    /// Frames without voice as soon as the delay is longer than needed by one; others only if an outage has piled them up, and as long
    /// as enough are left to go on with.
    private func isLeftOut(_ frame: JitterFrame<Payload>, excess: Int, target: Int) -> Bool {
        if !frame.isVoice { return excess >= frame.ticks && !frame.startsTalkspurt }
        return excess > JitterPace.catchUpTicksMax && bufferedTicks >= max(target, frame.ticks)
    }

    private mutating func setPace(for frame: JitterFrame<Payload>, excess: Int, at now: Instant) {
        framesSincePace += 1
        pace = .even
        guard timing.isSettled else { return }
        let last = queue.last?.frame ?? frame
        let overdue = timing.age(of: last.timestamp.advanced(by: last.ticks), at: now)
        if overdue > JitterPace.overdueTicksMin {
            if bufferedTicks < JitterPace.reserveTicks, last.isVoice, !last.endsTalkspurt, excess < JitterPace.stretchTicksMax {
                pace = queue.isEmpty ? .slowest : .slower
            }
        } else if excess >= JitterPace.excessTicksMin, framesSincePace >= JitterPace.framesBetween(excess: excess) {
            pace = .faster
            framesSincePace = 0
        }
    }

    private mutating func advance(past frame: JitterFrame<Payload>) {
        position = Position(
            sequence: frame.sequence.next, timestamp: frame.timestamp.advanced(by: frame.ticks), ticksPerFrame: frame.ticks)
    }
}
