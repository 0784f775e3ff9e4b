package import Wire

/// How good one participant's connection is, by LiveKit's score (livekit-server `connectionquality/scorer.go`).
///
/// LiveKit weighs loss less where Opus sends in-band FEC or DTX, which a connection as a whole cannot tell: here every
/// percent lost costs the 8 points of plain Opus.
package struct QualityScore: Sendable {
    /// 30…100. Starts excellent, which nobody is told.
    package private(set) var score = 100.0
    package private(set) var level = ConnectionQuality.excellent

    private static let floor = 30.0
    private static let pointsPerPercentLost = 8.0
    /// A worse score counts at once, a better one has to last.
    private static let weightWhenFalling = 0.8
    private static let weightWhenRising = 0.4

    package init() {}

    /// The new level, if it is another than before.
    package mutating func take(_ measurement: ConnectionMeasurement) -> ConnectionQuality? {
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
        // ITU-T G.107: hardly felt up to 160 ms, then ten milliseconds a point.
        let delayTerm = delay <= 160 ? delay / 40 : (delay - 120) / 10
        return min(100, max(0, 100 - delayTerm - measurement.lossPercent * pointsPerPercentLost))
    }

    private static func milliseconds(_ span: Duration) -> Double {
        Double(span.inNanoseconds) / 1e6
    }
}
