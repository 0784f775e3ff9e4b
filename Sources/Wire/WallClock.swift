#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The wall clock, for records and tokens only: it may jump, so nothing is timed by it.
package enum WallClock {
    /// Whole seconds since 1970.
    package static var seconds: Int64 { Int64(time(nil)) }

    /// Whole milliseconds since 1970.
    package static var milliseconds: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
    }
}
