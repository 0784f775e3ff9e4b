public import Wire

/// Reorders a track's frames and evens out their arrival, at the cost of a small delay.
///
/// Deterministic: time is an argument, and equal calls return equal results.
///
/// Use: `insert` each frame on arrival. Whenever the audio device (or a timer) needs more audio, call `next`, play the returned output for its
/// duration, and call again. The player's clock drives the buffer, so clock drift shows up as delay, which is kept within limits.
///
/// The delay starts at `targetDelay`. It grows at once when frames are late: by the wait after an underrun, or by a piece of concealment if
/// playout continued without them. The target grows with the path's stalls (`StallHistory`) and shrinks when they expire. Excess delay is removed
/// where it is inaudible, in the pause before a talkspurt or by skipping frames without voice; elsewhere `pace` requests slightly faster playback,
/// and audio that an outage has accumulated is skipped.
///
/// A gap in timestamps without a gap in sequence numbers is silence (DTX); a gap in both is loss. Comparisons are modular, so wraps need no care.
///
/// Not for the gateway, which forwards frames immediately. For an `ahead` track pass its lead as `targetDelay`, or the buffer treats the lead as
/// jitter and catches up.
public struct JitterBuffer<Payload> {
    /// The output to play next.
    public enum Output {
        /// Decode and play this.
        case frame(JitterFrame<Payload>)
        /// A frame is lost or late: conceal this many 48 kHz ticks, a multiple of 120.
        case conceal(ticks: Int)
        /// The speaker pauses: play this many 48 kHz ticks of silence or comfort noise.
        case silence(ticks: Int)
        /// The buffer is empty. Play silence or concealment for any time and call again.
        case wait
    }

    /// The result of inserting a frame.
    public enum Insertion: Hashable, Sendable {
        case accepted
        /// Its position has already been played; the delay grows.
        case late
        case duplicate
        /// Its duration is not a multiple of 2.5 ms between 2.5 and 120 ms.
        case malformed
    }

    public let limits: JitterLimits
    public private(set) var statistics = JitterStatistics()

    /// Sorted by sequence number, without duplicates.
    private var queue: [Arrival] = []
    private var position: Position?
    /// When `next` first found the buffer empty.
    private var drySince: Instant?
    private var history = PlayedSequences()
    private var growth = DelayGrowth()
    private var timing: ArrivalTiming
    private var lateInARow = 0
    /// How to play the frame that `next` returned last.
    public private(set) var pace = JitterPace.even
    /// Whether audio was skipped right before that frame.
    public private(set) var hasSkipped = false
    private var framesSincePace = 0

    fileprivate struct Arrival {
        let frame: JitterFrame<Payload>
        let at: Instant
    }

    /// The position of the next output.
    private struct Position {
        var sequence: SequenceNumber
        var timestamp: MediaTime
        /// Duration of the last frame, the best estimate for a lost one.
        var ticksPerFrame: Int
    }

    /// - Parameter expectedStall: anticipated stall. A connection that repairs loss stalls for about a round trip and one frame. Expires if none
    ///   occurs.
    public init(_ limits: JitterLimits = JitterLimits(), expectedStall: Duration = .zero) {
        self.limits = limits
        timing = ArrivalTiming(expectedStallTicks: MediaTime.ticks(in: expectedStall))
    }

    /// Buffered audio without gaps, in 48 kHz ticks. O(n) in the buffered frames.
    public var bufferedTicks: Int { queue.reduce(0) { $0 + $1.frame.ticks } }

    public var bufferedFrames: Int { queue.count }

    /// The next frame if it is buffered, for example to use its FEC data.
    public var upcoming: JitterFrame<Payload>? {
        guard let head = queue.first?.frame, head.sequence == position?.sequence else { return nil }
        return head
    }
}

extension JitterBuffer: Sendable where Payload: Sendable {}
extension JitterBuffer.Arrival: Sendable where Payload: Sendable {}
extension JitterBuffer.Output: Sendable where Payload: Sendable {}
extension JitterBuffer.Output: Equatable where Payload: Equatable {}

// MARK: - Input

extension JitterBuffer {
    /// Inserts a frame that has just arrived. O(1) if it is the newest, as most are.
    ///
    /// Late, duplicate and malformed frames are counted and dropped.
    @discardableResult
    public mutating func insert(_ frame: JitterFrame<Payload>, at now: Instant) -> Insertion {
        statistics.received += 1
        guard (120...OpusPacket.ticksLimit).contains(frame.ticks), frame.ticks.isMultiple(of: 120) else {
            statistics.malformed += 1
            return .malformed
        }
        if let position, frame.sequence.distance(from: position.sequence) < 0 {
            return reject(frame, at: position, now)
        }
        lateInARow = 0
        timing.note(frame.timestamp, at: now)

        var index = queue.endIndex
        while index > 0 {
            let distance = frame.sequence.distance(from: queue[index - 1].frame.sequence)
            if distance == 0 {
                statistics.duplicate += 1
                return .duplicate
            }
            if distance > 0 { break }
            index -= 1
        }
        queue.insert(Arrival(frame: frame, at: now), at: index)
        dropOldest()
        return .accepted
    }

    /// Clears everything but the statistics, for a new epoch or another publisher.
    public mutating func reset() {
        statistics.discarded += queue.count
        var fresh = JitterBuffer(limits)
        fresh.statistics = statistics
        self = fresh
    }

    private mutating func reject(_ frame: JitterFrame<Payload>, at position: Position, _ now: Instant) -> Insertion {
        if history.contains(frame.sequence) {
            statistics.duplicate += 1
            return .duplicate
        }
        statistics.late += 1
        lateInARow += 1
        if lateInARow >= limits.lateFramesLimit {
            // The sender has restarted its numbering; waiting for the old numbers would mean minutes of silence.
            reset()
            return .late
        }
        let lateness = Int(position.timestamp.distance(from: frame.timestamp))
        growth.note(lateness: min(lateness, limits.delayTicks - bufferedTicks), of: frame.timestamp)
        return .late
    }

    /// Enforces the limits by dropping the oldest frames.
    private mutating func dropOldest() {
        var buffered = bufferedTicks
        while queue.count > limits.frames || (buffered > limits.delayTicks && queue.count > 1) {
            let dropped = queue.removeFirst().frame
            buffered -= dropped.ticks
            statistics.overflowed += 1
            if position != nil { advance(past: dropped) }
        }
    }

    // MARK: - Output

    /// The output to play now. Call again when the returned output has been played.
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
            // Timestamps that go back violate the protocol but are harmless in order of sequence.
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

    /// The output between the last frame and the next one; nil if none is needed.
    private mutating func bridge(lost: Int, missing: Int, to head: Arrival, from position: Position, at now: Instant) -> Output? {
        if let since = drySince {
            drySince = nil
            return resumePlayout(from: since, lost: lost, missing: missing, to: head, at: now)
        }
        if lost > 0, missing > 0, timing.isSettled {
            // At most until the next frame is due: gaps are also where the delay shrinks.
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

    /// Conceals one frame at a time, because the missing frames may still arrive.
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

    /// Resumes after an underrun. Its duration counts towards a gap, if there is one; the rest has increased the delay.
    private mutating func resumePlayout(from since: Instant, lost: Int, missing: Int, to head: Arrival, at now: Instant) -> Output? {
        let elapsed = max(MediaTime.ticks(in: now - since), 0)
        growth.forgive(elapsed)
        let left = max(missing - elapsed, 0)
        if lost == 0, missing > 0 || head.frame.startsTalkspurt {
            // A talkspurt starts with a full buffer, or its first late frame would be audible.
            return pause(before: head, missing: max(left, targetTicks(at: now) - waited(head, at: now)), at: now)
        }
        statistics.underruns += 1
        statistics.underrunTicks += elapsed
        position?.timestamp = head.frame.timestamp.advanced(by: -left)
        guard let position else { return nil }
        return bridge(lost: lost, missing: left, to: head, from: position, at: now)
    }

    /// Advances to the next frame after as much silence as brings the delay to its target.
    private mutating func pause(before head: Arrival, missing: Int, at now: Instant) -> Output? {
        // A larger gap is a timestamp jump: the pause ends when the next frame arrives.
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

    /// Nil if the frame is skipped to catch up.
    private mutating func play(_ head: Arrival, at now: Instant) -> Output? {
        let target = targetTicks(at: now)
        queue.removeFirst()
        advance(past: head.frame)
        history.insert(head.frame.sequence)
        let age = timing.isSettled ? timing.age(of: head.frame.timestamp, at: now) : target
        if shouldSkip(head.frame, excess: age - target, target: target) {
            statistics.skipped += 1
            statistics.skippedTicks += head.frame.ticks
            hasSkipped = true
            return nil
        }
        setPace(for: head.frame, excess: age - target, at: now)
        statistics.played += 1
        statistics.delay = now - head.at
        // Limited to a minute, for clocks that jump.
        statistics.playoutDelay = timing.isSettled ? .ticks(min(max(age, 0), 60 * MediaTime.ticksPerSecond)) : now - head.at
        statistics.targetDelay = .ticks(target)
        return .frame(head.frame)
    }

    /// Frames without voice are skipped as soon as the delay exceeds the target by one; others only after an outage, while enough remain buffered.
    private func shouldSkip(_ frame: JitterFrame<Payload>, excess: Int, target: Int) -> Bool {
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
