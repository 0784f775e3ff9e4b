package import Wire

/// Watches for how long nothing loud came from one participant, and tells it once per silence.
package struct SilenceDetector: Sendable {
    private enum State {
        /// Nothing could be heard anyway: no track, all muted, or held.
        case off
        case waiting(since: Instant)
        /// This silence has been told; only a sound begins another.
        case told
    }

    private let limit: Duration
    private var state = State.off

    /// A limit of zero or less never tells.
    package init(limit: Duration) {
        self.limit = limit
    }

    /// When `check` is worth calling, if at all.
    package var deadline: Instant? {
        if case .waiting(let since) = state { since + limit } else { nil }
    }

    /// Something can be heard from now on. No effect if that was so before.
    package mutating func start(at now: Instant) {
        guard case .off = state, limit > .zero else { return }
        state = .waiting(since: now)
    }

    package mutating func stop() {
        state = .off
    }

    package mutating func soundDetected(at now: Instant) {
        if case .off = state { return }
        state = .waiting(since: now)
    }

    /// How long it has been silent, in milliseconds, if that is to be told now.
    package mutating func check(at now: Instant) -> Int? {
        guard case .waiting(let since) = state, since + limit <= now else { return nil }
        state = .told
        return Int((now - since).inMilliseconds)
    }
}
