package import Wire

/// Connection quality of one participant, by LiveKit's score (livekit-server `connectionquality/scorer.go`).
///
/// LiveKit weighs loss less with in-band FEC or DTX, which is not known per connection: here each percent lost costs the 8 points
/// of plain Opus.
package struct QualityScore: Sendable {
    /// 30…100. Starts at excellent, which is not reported.
    package private(set) var score = 100.0
    package private(set) var level = ConnectionQuality.excellent

    private static let floor = 30.0
    private static let pointsPerPercentLost = 8.0
    /// A worse score counts at once, a better one gradually.
    private static let weightWhenFalling = 0.8
    private static let weightWhenRising = 0.4

    package init() {}

    /// - Returns: the new level if it has changed.
    package mutating func update(with measurement: ConnectionMeasurement) -> ConnectionQuality? {
        let old = level
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
    package static func score(of measurement: ConnectionMeasurement) -> Double {
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
