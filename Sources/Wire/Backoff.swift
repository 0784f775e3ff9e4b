/// A schedule of delays between the attempts of one operation.
package struct Backoff: Sendable, Hashable {
    package enum Growth: Sendable, Hashable {
        /// 1, 2, 4, 8, … units.
        case exponential
        /// 0, 1, 4, 9, … units.
        case quadratic
    }

    /// Keeps operations that failed together from being retried together.
    package enum Jitter: Sendable, Hashable {
        case none
        /// The upper half of each delay is random.
        case upperHalf
        /// Adds up to this duration to each delay that is at least as long.
        case added(Duration)
    }

    package var growth: Growth
    package var unit: Duration
    /// Maximum delay, without added jitter.
    package var delayMax: Duration
    package var jitter: Jitter

    package init(_ growth: Growth, unit: Duration, delayMax: Duration, jitter: Jitter = .none) {
        self.growth = growth
        self.unit = unit
        self.delayMax = delayMax
        self.jitter = jitter
    }

    /// The delay before the next attempt.
    ///
    /// - Parameters:
    ///   - failures: consecutive failures, at least 1.
    ///   - random: a random number from 0 to 1, for the jitter.
    package func delay(afterFailures failures: Int, random: Double) -> Duration {
        // Beyond 2^20 units every schedule is at its maximum.
        let step = min(max(failures, 1) - 1, 20)
        let delay =
            switch growth {
            case .exponential: min(unit * (1 << step), delayMax)
            case .quadratic: min(unit * (step * step), delayMax)
            }
        return switch jitter {
        case .none: delay
        case .upperHalf: delay / 2 + delay / 2 * random
        case .added(let span): delay < span ? delay : delay + span * random
        }
    }
}
