package import Wire

/// When which part of an utterance plays, as its queue lets it out. Places are ticks since the utterance's first frame.
///
/// Made of stretches: each is one run of the queue's clock, and a late stream begins another. A stretch that has an end is let out up to
/// there; one without is let out as far as the lead reaches.
package struct UtteranceClock: Sendable {
    private struct Stretch {
        var start: Int
        var playsAt: Instant
        var end: Int?
    }

    /// Earliest first, never empty; the last is the one that the queue is at.
    private var stretches: [Stretch]
    /// Everything that was published has been let out.
    package private(set) var isDry = false

    /// - Parameter playsAt: when the utterance's first sample plays.
    package init(playsAt: Instant) {
        stretches = [Stretch(start: 0, playsAt: playsAt)]
    }

    /// The clock started anew: what is at `offset` plays at `playsAt`, and nothing before it was left over.
    package mutating func start(at offset: Int, playsAt: Instant) {
        let last = stretches.count - 1
        stretches[last].end = min(stretches[last].end ?? offset, offset)
        forgetStretches(before: playsAt)
        stretches.append(Stretch(start: offset, playsAt: playsAt))
        isDry = false
    }

    package mutating func runDry(at end: Int) {
        stretches[stretches.count - 1].end = end
        isDry = true
    }

    package mutating func refill() {
        stretches[stretches.count - 1].end = nil
        isDry = false
    }

    /// The queue lets nothing out any more, until its clock starts anew. Where it had got to is told only then, so it is taken to have
    /// let out all that the lead allows.
    package mutating func pause(at now: Instant) {
        guard !isDry else { return }
        stretches[stretches.count - 1].end = release(at: now)
    }

    /// Where it is now by the clock.
    package func offset(at now: Instant) -> Int {
        guard let stretch = stretches.last(where: { $0.playsAt <= now }) else { return 0 }
        let offset = stretch.start + (now - stretch.playsAt).inTicks
        return stretch.end.map { min($0, offset) } ?? offset
    }

    /// Up to where subscribers can have got it.
    package func release(at now: Instant) -> Int {
        let last = stretches[stretches.count - 1]
        return last.end ?? last.start + max(0, (now - last.playsAt).inTicks + Self.leadTicks)
    }

    /// When it is there by the clock, nil if it never is as things stand.
    package func instant(of offset: Int) -> Instant? {
        for stretch in stretches {
            if offset <= stretch.start { return stretch.playsAt }
            if offset <= stretch.end ?? .max { return stretch.playsAt + .ticks(offset - stretch.start) }
        }
        return nil
    }

    /// The end of all that was let out, once there is one.
    package var end: (offset: Int, at: Instant)? {
        let last = stretches[stretches.count - 1]
        return last.end.map { ($0, last.playsAt + .ticks(max(0, $0 - last.start))) }
    }

    private mutating func forgetStretches(before now: Instant) {
        while stretches.count > 1, stretches[1].playsAt <= now { stretches.removeFirst() }
    }

    static let leadTicks = ProtocolLimits.leadMilliseconds * MediaTime.ticksPerMillisecond
}

extension Duration {
    /// Whole ticks of 48 kHz, cut off towards zero.
    package var inTicks: Int { Int(inNanoseconds * 48 / 1_000_000) }

    /// The shortest span, in whole nanoseconds, in which that many ticks pass.
    package static func ticks(_ count: Int) -> Duration {
        .nanoseconds((Int64(count) * 1_000_000 + (count > 0 ? 47 : 0)) / 48)
    }
}
