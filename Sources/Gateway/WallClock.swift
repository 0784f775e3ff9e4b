internal import Glibc

/// The wall clock, for records and tokens only: it may jump, so nothing is timed by it.
enum WallClock {
    /// Whole seconds since 1970.
    static var seconds: Int64 { Int64(time(nil)) }
}
