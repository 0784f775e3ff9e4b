#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The wall clock, for records and tokens only: it may jump, so nothing is timed by it.
package enum WallClock {
    /// Whole seconds since 1970.
    package static var seconds: Int64 { Int64(Date().timeIntervalSince1970.rounded(.down)) }

    /// Whole milliseconds since 1970.
    package static var milliseconds: Int64 { Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)) }
}
