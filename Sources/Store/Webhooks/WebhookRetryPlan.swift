/// When an event that did not arrive is sent again.
package struct WebhookRetryPlan: Sendable, Hashable {
    package enum Step: Sendable, Hashable {
        case again(at: WallTime)
        /// It is too old, or nobody wants it any more.
        case givenUp
    }

    /// After the first attempt.
    package var delayMin: Duration = .seconds(1)
    /// Each delay is twice the one before it, up to this.
    package var delayMax: Duration = .seconds(600)

    package init() {}

    /// - Parameters:
    ///   - attempts: made so far, at least 1.
    ///   - expiresAt: from when on it is not sent any more.
    ///   - chance: 0..<1. The delay is a random part of its upper half, so that what failed together does not come back together.
    package func step(afterAttempts attempts: Int, expiresAt: WallTime, now: WallTime, chance: Double) -> Step {
        var whole = delayMin
        for _ in 1..<max(attempts, 1) where whole < delayMax { whole *= 2 }
        whole = min(whole, delayMax)
        let next = now + whole / 2 + whole / 2 * chance
        return next < expiresAt ? .again(at: next) : .givenUp
    }
}

/// What an answer of an endpoint means.
///
/// LiveKit takes every status but 429 and 5xx for a delivery. We do so with 2xx only, because an endpoint that was put up wrongly answers
/// 404 or 401 for an hour, and what happened in it would be lost.
enum WebhookAnswer {
    case delivered
    case failed
    /// 410: the endpoint wants nothing of this any more.
    case gone

    init(status: Int) {
        switch status {
        case 200...299: self = .delivered
        case 410: self = .gone
        default: self = .failed
        }
    }
}
