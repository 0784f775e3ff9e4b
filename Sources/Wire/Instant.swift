/// A point on the monotonic clock, in nanoseconds since an arbitrary start of the process.
///
/// Patchbay knows three kinds of time that never mix: `Instant` (deadlines, ages), `MediaTime` (48 kHz ticks inside a
/// track) and wall-clock time (tokens and records only). Nothing in `Engine` reads a clock: an `Instant` is an argument.
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

    /// The instant `span` later. A negative span goes back, but never before the start.
    @inlinable
    public static func + (instant: Instant, span: Duration) -> Instant {
        instant.advanced(byNanoseconds: span.inNanoseconds)
    }

    /// As `+`, for what is reckoned with every frame: a `Duration` counts attoseconds in 128 bits.
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
    /// Whole nanoseconds. Holds for spans of up to 292 years.
    @inlinable
    public var inNanoseconds: Int64 {
        Int64(truncatingIfNeeded: attoseconds / Self.attosecondsPerNanosecond)
    }

    @usableFromInline static var attosecondsPerNanosecond: Int128 { 1_000_000_000 }

    /// Whole milliseconds, cut off towards zero.
    @inlinable
    public var inMilliseconds: Int64 {
        inNanoseconds / 1_000_000
    }
}
