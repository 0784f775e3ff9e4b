package import Wire

/// The state of a participant as it is measured and reported to the others.
struct ParticipantStatus: Sendable {
    var quality = QualityScore()
    /// Its activity, if it is an agent.
    var activity = AgentActivity()
    var silence: SilenceDetector

    init(silenceLimit: Duration) {
        silence = SilenceDetector(limit: silenceLimit)
    }
}

/// Connection quality of one participant, by LiveKit's score (livekit-server `connectionquality/scorer.go`).
///
/// LiveKit weighs loss less with in-band FEC or DTX, which is not known per connection: here each percent lost costs the 8 points
/// of plain Opus.
struct QualityScore: Sendable {
    /// 30…100. Starts at excellent, which is not reported.
    private(set) var score = 100.0
    private(set) var level = ConnectionQuality.excellent
    /// The latest measurement; nil before the first.
    private(set) var measurement: ConnectionMeasurement?

    private static let floor = 30.0
    private static let pointsPerPercentLost = 8.0
    /// A worse score counts at once, a better one gradually.
    private static let weightWhenFalling = 0.8
    private static let weightWhenRising = 0.4

    /// - Returns: the new level if it has changed.
    mutating func update(with measurement: ConnectionMeasurement) -> ConnectionQuality? {
        let old = level
        self.measurement = measurement
        if measurement.isSilent {
            score = Self.floor
            level = .lost
        } else {
            let new = Self.score(of: measurement)
            let weight = new < score ? Self.weightWhenFalling : Self.weightWhenRising
            score = max(Self.floor, score + weight * (new - score))
            level = score > 80 ? .excellent : score > 40 ? .good : .poor
        }
        return level == old ? nil : level
    }

    /// 0…100 for one measurement alone, before smoothing.
    static func score(of measurement: ConnectionMeasurement) -> Double {
        let delay = milliseconds(measurement.roundTrip) / 2 + 2 * milliseconds(measurement.jitter)
        // ITU-T G.107: barely noticeable up to 160 ms, then one point per 10 ms.
        let delayTerm = delay <= 160 ? delay / 40 : (delay - 120) / 10
        return min(100, max(0, 100 - delayTerm - measurement.lossPercent * pointsPerPercentLost))
    }

    private static func milliseconds(_ span: Duration) -> Double {
        Double(span.inNanoseconds) / 1e6
    }
}

/// Statistics of a connection over the last 5 s.
package struct ConnectionMeasurement: Sendable, Hashable {
    package var roundTrip: Duration
    /// Interarrival jitter (RFC 3550 section 6.4.1).
    package var jitter: Duration
    /// Percentage of frames to this subscriber that were dropped, 0…100.
    package var lossPercent: Double
    /// Nothing was received for longer than the ping timeout allows.
    package var isSilent: Bool

    package init(roundTrip: Duration, jitter: Duration, lossPercent: Double, isSilent: Bool) {
        self.roundTrip = roundTrip
        self.jitter = jitter
        self.lossPercent = lossPercent
        self.isSilent = isSilent
    }
}

/// The state of a participant's connection in its room, for operators.
package struct ConnectionReport: Sendable, Hashable {
    package var identity: Identity
    package var kind: ParticipantKind
    package var quality: ConnectionQuality
    /// The latest measurement; nil before the first one, about 5 s after the join.
    package var measurement: ConnectionMeasurement?
    /// The time at which the connection was lost; nil while connected.
    package var lostSince: Instant?

    /// Whether this report precedes another one in lists for operators: lost connections, the longest first, then by quality, loss
    /// and round-trip time.
    package func isWorse(than other: ConnectionReport) -> Bool { severity > other.severity }

    private var severity: (lost: Double, quality: Int, loss: Double, delay: Int64) {
        (
            lostSince.map { -Double($0.nanoseconds) } ?? -.infinity, ConnectionQuality.allCases.firstIndex(of: quality) ?? 0,
            measurement?.lossPercent ?? 0, measurement?.roundTrip.inNanoseconds ?? 0
        )
    }
}

/// The reported state of an agent: the announced one, corrected by playout.
///
/// An agent that publishes ahead of the clock does not know when its first and last word play. `speaking` is reported when playout
/// starts and ends with it; states announced in between are reported afterwards. Without an `ahead` track the announced state is used.
struct AgentActivity: Sendable {
    private(set) var announced: AgentState?
    private var isPlaying = false
    /// When an announced `speaking` without playout is reported all the same.
    private(set) var deadline: Instant?

    init(announced: AgentState? = nil, isPlaying: Bool = false) {
        self.announced = announced
        self.isPlaying = isPlaying
    }

    /// The state to report now, nil if that must wait.
    ///
    /// - Parameter playsAhead: whether it publishes an `ahead` track.
    mutating func announce(_ state: AgentState, playsAhead: Bool, at now: Instant) -> AgentState? {
        announced = state
        guard !isPlaying else { return nil }
        guard state == .speaking, playsAhead else {
            deadline = nil
            return state
        }
        deadline = deadline ?? now + Limits.speakingUnplayedMax
        return nil
    }

    /// Playout has started.
    mutating func playoutStarted() -> AgentState {
        (announced, isPlaying, deadline) = (.speaking, true, nil)
        return .speaking
    }

    /// Playout has ended. Without another announcement the agent listens.
    mutating func playoutEnded() -> AgentState? {
        guard isPlaying else { return nil }
        isPlaying = false
        if announced == .speaking { announced = .listening }
        return announced
    }

    mutating func check(at now: Instant) -> AgentState? {
        guard let deadline, deadline <= now else { return nil }
        self.deadline = nil
        return announced
    }
}
