public import Wire

/// Where a frame that is to be sent lies on its track's 48 kHz clock.
public enum FrameTiming: Sendable, Hashable {
    /// Right after the frame before. If 200 ms or more have passed since that one ended, the pause is put in between.
    case following
    /// After so many 48 kHz ticks of silence that are not sent (DTX), 0 or more. If 200 ms more than that have passed, what has
    /// passed counts.
    case afterSilence(ticks: Int)
    /// At this timestamp of the caller's own count. One that would go back is moved to the end of the frame before.
    case at(MediaTime)
}
