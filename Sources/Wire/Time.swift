#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A point on the monotonic clock, in nanoseconds since an arbitrary start of the process.
///
/// Patchbay keeps three kinds of time apart: `Instant` (deadlines, ages), `MediaTime` (48 kHz ticks within a track) and wall-clock time
/// (tokens and records only). `Engine` reads no clock and takes each `Instant` as an argument.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: UInt64

    @inlinable
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant `span` later. A negative span goes back, but not before the start of the clock.
    @inlinable
    public static func + (instant: Instant, span: Duration) -> Instant {
        instant.advanced(byNanoseconds: span.inNanoseconds)
    }

    /// Like `+`, without the 128-bit attosecond arithmetic of `Duration`. Used once per frame.
    @inlinable
    public func advanced(byNanoseconds span: Int64) -> Instant {
        if span >= 0 { return Instant(nanoseconds: nanoseconds &+ UInt64(span)) }
        let back = span.magnitude
        return Instant(nanoseconds: nanoseconds > back ? nanoseconds - back : 0)
    }

    @inlinable
    public static func - (later: Instant, earlier: Instant) -> Duration {
        Duration(attoseconds: Int128(Int64(bitPattern: later.nanoseconds &- earlier.nanoseconds)) &* Duration.attosecondsPerNanosecond)
    }
}

extension Duration {
    /// Whole nanoseconds, for spans of up to 292 years.
    @inlinable
    public var inNanoseconds: Int64 {
        Int64(truncatingIfNeeded: attoseconds / Self.attosecondsPerNanosecond)
    }

    @usableFromInline static var attosecondsPerNanosecond: Int128 { 1_000_000_000 }

    /// Whole milliseconds, truncated towards zero.
    @inlinable
    public var inMilliseconds: Int64 {
        inNanoseconds / 1_000_000
    }
}

extension Instant {
    private static let origin = ContinuousClock.now

    /// The time on the clock of the services. Those of shards have another origin.
    package static var now: Instant {
        // Read first: the first access sets `origin`, which must not be later than now.
        let origin = origin
        return Instant(nanoseconds: UInt64((ContinuousClock.now - origin).inNanoseconds))
    }
}

/// A timestamp on a track's own 48 kHz clock (RFC 7587 section 4.1). Wraps every 24.8 hours.
public struct MediaTime: Hashable, Sendable {
    /// Ticks per second, independent of the sample rate of the recording.
    public static let ticksPerSecond = 48_000
    public static let ticksPerMillisecond = 48

    public var ticks: UInt32

    @inlinable
    public init(ticks: UInt32) {
        self.ticks = ticks
    }

    /// Ticks from `other` to this timestamp, negative if `other` is later. Valid for distances below 12.4 hours.
    @inlinable
    public func distance(from other: MediaTime) -> Int32 {
        Int32(bitPattern: ticks &- other.ticks)
    }

    /// The timestamp `count` ticks later.
    @inlinable
    public func advanced(by count: Int) -> MediaTime {
        MediaTime(ticks: ticks &+ UInt32(truncatingIfNeeded: count))
    }
}

/// A frame's number in its track: incremented for each published frame, wraps after 65,535 (as in RTP, RFC 3550 section 5.1).
public struct SequenceNumber: Hashable, Sendable {
    public var value: UInt16

    @inlinable
    public init(_ value: UInt16) {
        self.value = value
    }

    /// Frames from `other` to this one, negative if `other` is later. Valid for distances below 32,768.
    @inlinable
    public func distance(from other: SequenceNumber) -> Int {
        Int(Int16(bitPattern: value &- other.value))
    }

    @inlinable
    public var next: SequenceNumber {
        SequenceNumber(value &+ 1)
    }
}

/// The wall clock, for records and tokens only: it may jump, so nothing is timed by it.
package enum WallClock {
    /// Whole seconds since 1970.
    package static var seconds: Int64 { Int64(Date().timeIntervalSince1970.rounded(.down)) }

    /// Whole milliseconds since 1970.
    package static var milliseconds: Int64 { Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)) }
}

/// RFC 3339 timestamps in UTC with milliseconds: `2026-11-21T13:16:56.000Z`.
package enum RFC3339 {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let styleWithoutFraction = Date.ISO8601FormatStyle()

    /// - Returns: milliseconds since 1970; nil if the text is not a time.
    package static func milliseconds(of text: String) -> Int64? {
        guard let date = (try? style.parse(text)) ?? (try? styleWithoutFraction.parse(text)) else { return nil }
        return Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded())
    }

    package static func text(ofMilliseconds milliseconds: Int64) -> String {
        // The style truncates, and most milliseconds have no exact binary fraction, so half a millisecond is added.
        style.format(Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1_000))
    }
}

/// A schedule of delays between the attempts of one operation.
package struct Backoff: Sendable, Hashable {
    package enum Growth: Sendable, Hashable {
        /// 1, 2, 4, 8, … units.
        case exponential
        /// 0, 1, 4, 9, … units.
        case quadratic
    }

    /// Keeps operations that failed together from being retried together.
    package enum Jitter: Sendable, Hashable {
        case none
        /// The upper half of each delay is random.
        case upperHalf
        /// Adds up to this duration to each delay that is at least as long.
        case added(Duration)
    }

    package var growth: Growth
    package var unit: Duration
    /// Maximum delay, without added jitter.
    package var delayMax: Duration
    package var jitter: Jitter

    package init(_ growth: Growth, unit: Duration, delayMax: Duration, jitter: Jitter = .none) {
        self.growth = growth
        self.unit = unit
        self.delayMax = delayMax
        self.jitter = jitter
    }

    /// The delay before the next attempt.
    ///
    /// - Parameters:
    ///   - failures: consecutive failures, at least 1.
    ///   - random: a random number from 0 to 1, for the jitter.
    package func delay(afterFailures failures: Int, random: Double) -> Duration {
        // Beyond 2^20 units every schedule is at its maximum.
        let step = min(max(failures, 1) - 1, 20)
        let delay =
            switch growth {
            case .exponential: min(unit * (1 << step), delayMax)
            case .quadratic: min(unit * (step * step), delayMax)
            }
        return switch jitter {
        case .none: delay
        case .upperHalf: delay / 2 + delay / 2 * random
        case .added(let span): delay < span ? delay : delay + span * random
        }
    }
}
