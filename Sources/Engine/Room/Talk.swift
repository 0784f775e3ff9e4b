package import Wire

/// Whether a track is in a talkspurt, such that every start that is told has exactly one stop.
///
/// The meter's reports and the room's own decisions (mute, hold, leaving) cross on the way. Whoever is first to end a
/// talkspurt ends it; the others come too late and change nothing.
package struct Talkspurt: Sendable {
    private enum State {
        case quiet
        case talking(from: MediaTime, since: Instant)
    }

    private var state = State.quiet

    package init() {}

    /// The timestamp at which the talkspurt began, nil if there is none.
    package var start: MediaTime? {
        if case .talking(let start, _) = state { start } else { nil }
    }

    /// True if that is news.
    package mutating func begin(at start: MediaTime, now: Instant) -> Bool {
        guard case .quiet = state else { return false }
        state = .talking(from: start, since: now)
        return true
    }

    /// The timestamp to tell, never before the start; nil if nothing was to be ended.
    package mutating func end(at end: MediaTime) -> MediaTime? {
        guard case .talking(let start, _) = state else { return nil }
        state = .quiet
        return end.distance(from: start) < 0 ? start : end
    }

    /// Ends it where no frame says when: by the time that has passed.
    package mutating func cutOff(now: Instant) -> MediaTime? {
        guard case .talking(let start, let since) = state else { return nil }
        state = .quiet
        return start.advanced(by: Int((now - since).inMilliseconds) * MediaTime.ticksPerMillisecond)
    }
}
