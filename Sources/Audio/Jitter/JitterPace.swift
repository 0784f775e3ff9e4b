internal import Wire

/// How a frame is to be played so that the delay becomes what it should be, without a gap that one hears.
public enum JitterPace: Hashable, Sendable {
    case even
    /// Shortened by a pitch period: the delay is longer than it need be.
    case faster
    /// Lengthened by a pitch period: nothing comes any more, and what is here has to last.
    case slower
    /// Lengthened by two: it is the last one.
    case slowest

    /// A delay so much longer than its target is let be.
    static let excessTicksMin = 8 * MediaTime.ticksPerMillisecond
    /// A delay so much longer than its target does not become longer still; concealment takes over.
    static let stretchTicksMax = 60 * MediaTime.ticksPerMillisecond
    /// More than this takes too long to catch up with by playing faster.
    static let catchUpTicksMax = 250 * MediaTime.ticksPerMillisecond
    /// So long after its time a frame that has not come is missed. More than a sender's own unevenness, less than two frames.
    static let overdueTicksMin = 22 * MediaTime.ticksPerMillisecond

    /// With so much still to play there is time for what is late to come.
    static let reserveTicks = 100 * MediaTime.ticksPerMillisecond

    /// One frame in so many is shortened: the more there is to catch up with, the more of them.
    static func framesBetween(excess: Int) -> Int {
        switch excess / MediaTime.ticksPerMillisecond {
        case ..<20: 5
        case ..<50: 3
        case ..<100: 2
        default: 1
        }
    }
}
