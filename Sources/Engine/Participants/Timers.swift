package import Wire

/// The earliest of many deadlines.
///
/// A deadline that moves back is not removed: waking up early costs one scan, keeping all deadlines sorted would cost on every
/// event.
struct EarliestDeadline: Sendable {
    private(set) var instant: Instant?

    mutating func include(_ deadline: Instant) {
        instant = instant.map { min($0, deadline) } ?? deadline
    }

    mutating func include(_ deadline: Instant?) {
        if let deadline { include(deadline) }
    }

    mutating func clear() {
        instant = nil
    }
}

/// Notices pauses of the process by a timer that fires late: a stopped process, a paused virtual machine, no processor time.
///
/// Peers kept running during the pause: their messages are still unread, and they got no probes. Their silence counts from its end.
package struct PauseDetector: Sendable {
    private var endedAt: Instant?

    package init() {}

    /// - Returns: the length of the pause that has just ended; nil if there was none.
    package mutating func timerFired(at now: Instant, dueAt due: Instant) -> Duration? {
        guard now - due >= Limits.pauseMin else { return nil }
        endedAt = now
        return now - due
    }

    /// How long a peer has been silent, that is for how long this process could have received something from it.
    package func silence(since receivedAt: Instant, at now: Instant) -> Duration {
        now - (endedAt.map { max($0, receivedAt) } ?? receivedAt)
    }

    /// Whether a pause ended less than this time ago.
    package func hasEnded(within span: Duration, at now: Instant) -> Bool {
        endedAt.map { now - $0 < span } ?? false
    }
}

/// Ends a room that nobody uses: `emptyTimeout` after its creation, or `departureTimeout` after the last participant left.
///
/// Dependent participants (agents, recorders) do not keep a room alive, as in LiveKit.
struct EmptyRoomTimeout: Sendable {
    /// When the room ends; nil while somebody is present.
    private(set) var deadline: Instant?
    private var timeout: Duration
    private let departureTimeout: Duration
    private(set) var isAfterDeparture = false

    init(createdAt: Instant, emptyTimeout: Duration, departureTimeout: Duration) {
        deadline = createdAt + emptyTimeout
        timeout = emptyTimeout
        self.departureTimeout = departureTimeout
    }

    mutating func cancel() {
        deadline = nil
    }

    mutating func restart(at now: Instant) {
        isAfterDeparture = true
        timeout = departureTimeout
        deadline = now + timeout
    }

    /// Extends the timeout by a pause that ends now, in which no client could join.
    mutating func extend(by pause: Duration, at now: Instant) {
        deadline = deadline.map { min($0 + pause, now + timeout) }
    }

    func isOver(at now: Instant) -> Bool {
        deadline.map { $0 <= now } ?? false
    }
}

/// Detects silence of one participant, and reports it once per silence.
struct SilenceDetector: Sendable {
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
    init(limit: Duration) {
        self.limit = limit
    }

    /// When to call `check`, if at all.
    var deadline: Instant? {
        if case .waiting(let since) = state { since + limit } else { nil }
    }

    /// Starts detection, unless it is running.
    mutating func start(at now: Instant) {
        guard case .off = state, limit > .zero else { return }
        state = .waiting(since: now)
    }

    mutating func stop() {
        state = .off
    }

    mutating func soundDetected(at now: Instant) {
        if case .off = state { return }
        state = .waiting(since: now)
    }

    /// Extends the wait by a pause that ends now, in which no audio could arrive.
    mutating func extend(by pause: Duration, at now: Instant) {
        if case .waiting(let since) = state { state = .waiting(since: min(since + pause, now)) }
    }

    /// Milliseconds of silence, if it is to be reported now.
    mutating func check(at now: Instant) -> Int? {
        guard case .waiting(let since) = state, since + limit <= now else { return nil }
        state = .reported
        return Int((now - since).inMilliseconds)
    }
}
