internal import Wire

/// How to play a frame so that the delay approaches its target without an audible gap.
public enum JitterPace: Hashable, Sendable {
    case even
    /// Shortened by a pitch period: the delay is longer than necessary.
    case faster
    /// Lengthened by a pitch period: no frames arrive, so the buffered audio has to last longer.
    case slower
    /// Lengthened by two pitch periods: this is the last buffered frame.
    case slowest

    /// Smaller excess over the target delay is tolerated.
    static let excessTicksMin = 8 * MediaTime.ticksPerMillisecond
    /// Beyond this excess the delay is not stretched further; concealment takes over.
    static let stretchTicksMax = 60 * MediaTime.ticksPerMillisecond
    /// A larger excess would take too long to reduce by playing faster.
    static let catchUpTicksMax = 250 * MediaTime.ticksPerMillisecond
    /// A frame this late counts as missing. More than a sender's own jitter, less than two frames.
    static let overdueTicksMin = 22 * MediaTime.ticksPerMillisecond

    /// With this much buffered audio, late frames may still arrive in time.
    static let reserveTicks = 100 * MediaTime.ticksPerMillisecond

    /// One in this many frames is shortened; the larger the excess, the more.
    static func framesBetween(excess: Int) -> Int {
        switch excess / MediaTime.ticksPerMillisecond {
        case ..<20: 5
        case ..<50: 3
        case ..<100: 2
        default: 1
        }
    }
}

/// Pending increase of the delay because frames arrived too late.
struct DelayGrowth {
    private var pendingTicks = 0
    /// The latest increase: it already compensates for part of the lateness of frames before it.
    private var last: (before: MediaTime, ticks: Int)?

    /// `lateness` is how far playout was past the frame's position when it arrived.
    mutating func note(lateness: Int, of timestamp: MediaTime) {
        var ticks = lateness
        if let last, timestamp.distance(from: last.before) < 0 { ticks -= last.ticks }
        pendingTicks = max(pendingTicks, ticks / 120 * 120)
    }

    /// Called when an underrun has already increased the delay.
    mutating func forgive(_ ticks: Int) {
        pendingTicks = max(pendingTicks - ticks, 0) / 120 * 120
    }

    /// The next piece of the pending increase, or nil.
    mutating func take(atMost limit: Int, at position: MediaTime) -> Int? {
        let ticks = min(pendingTicks, limit) / 120 * 120
        guard ticks > 0 else { return nil }
        pendingTicks -= ticks
        if let before = last, before.before == position {
            last = (position, before.ticks + ticks)
        } else {
            last = (position, ticks)
        }
        return ticks
    }
}

/// Which of the last 64 sequence numbers were played, to tell duplicates from late frames.
struct PlayedSequences {
    /// Bit 0 is `newest`, bit n the number n before it.
    private var played: UInt64 = 0
    private var newest: SequenceNumber?

    /// Numbers rise; after a large jump in either direction, the history is irrelevant.
    mutating func insert(_ sequence: SequenceNumber) {
        let steps = newest.map { sequence.distance(from: $0) } ?? 64
        played = (0..<64).contains(steps) ? played << UInt64(steps) | 1 : 1
        newest = sequence
    }

    func contains(_ sequence: SequenceNumber) -> Bool {
        guard let newest else { return false }
        let age = newest.distance(from: sequence)
        return (0..<64).contains(age) && played >> UInt64(age) & 1 == 1
    }
}
