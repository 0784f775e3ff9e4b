package import Wire

/// The earliest of many deadlines.
///
/// A deadline that moves back is not removed: waking up early costs one scan, keeping all deadlines sorted would cost on every
/// event.
package struct EarliestDeadline: Sendable {
    package private(set) var instant: Instant?

    package init() {}

    package mutating func include(_ deadline: Instant) {
        instant = instant.map { min($0, deadline) } ?? deadline
    }

    package mutating func include(_ deadline: Instant?) {
        if let deadline { include(deadline) }
    }

    package mutating func clear() {
        instant = nil
    }
}

/// Ends a room that nobody uses: `emptyTimeout` after its creation, or `departureTimeout` after the last participant left.
///
/// Dependent participants (agents, recorders) do not keep a room alive, as in LiveKit.
package struct EmptyRoomTimeout: Sendable {
    /// When the room ends; nil while somebody is present.
    package private(set) var deadline: Instant?
    private let departureTimeout: Duration

    package init(createdAt: Instant, emptyTimeout: Duration, departureTimeout: Duration) {
        deadline = createdAt + emptyTimeout
        self.departureTimeout = departureTimeout
    }

    package mutating func cancel() {
        deadline = nil
    }

    package mutating func restart(at now: Instant) {
        deadline = now + departureTimeout
    }

    package func isOver(at now: Instant) -> Bool {
        deadline.map { $0 <= now } ?? false
    }
}

/// Detects silence of one participant, and reports it once per silence.
package struct SilenceDetector: Sendable {
    private enum State {
        /// No audible track: none published, all muted, or held.
        case off
        case waiting(since: Instant)
        /// Reported; only a sound starts another silence.
        case reported
    }

    private let limit: Duration
    private var state = State.off

    /// - Parameter limit: zero or less disables detection.
    package init(limit: Duration) {
        self.limit = limit
    }

    /// When to call `check`, if at all.
    package var deadline: Instant? {
        if case .waiting(let since) = state { since + limit } else { nil }
    }

    /// Starts detection, unless it is running.
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

    /// Milliseconds of silence, if it is to be reported now.
    package mutating func check(at now: Instant) -> Int? {
        guard case .waiting(let since) = state, since + limit <= now else { return nil }
        state = .reported
        return Int((now - since).inMilliseconds)
    }
}
