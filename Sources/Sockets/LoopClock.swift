internal import CLibwebsockets
package import Wire

/// The time of a loop's turn, in whole milliseconds: read once per turn and not once per frame.
///
/// A value, to be kept by those who ask for it with every frame: on the way to it nobody counts references. Good until its loop has ended.
@safe package struct LoopClock {
    private let loop: UnsafePointer<uv_loop_t>?
    private let standsAt: Instant

    /// A clock without a loop.
    package init(standingAt instant: Instant) {
        unsafe loop = nil
        standsAt = instant
    }

    init(of loop: UnsafePointer<uv_loop_t>) {
        unsafe self.loop = unsafe loop
        standsAt = Instant(nanoseconds: 0)
    }

    package var now: Instant {
        guard let loop = unsafe loop else { return standsAt }
        return unsafe Instant(nanoseconds: uv_now(loop) &* 1_000_000)
    }
}
