internal import HTTPTypes
internal import Identity
internal import Synchronization
package import Wire

/// Limits failed authentications per address, across all shards.
///
/// A valid token is accepted from any address, because many clients may share one. Once an address is over its limit (`FailureLimiter`),
/// further failures are answered with 429 instead of 401. A request without a token is not a failure.
///
/// To protect the CPU, tokens from such addresses are verified at most `verificationsPerSecond` times a second in total, which costs at
/// most a tenth of one core (0.02 to 0.1 ms each). Beyond that they get 429 unverified.
package final class AuthFailureLimiter: Sendable {
    package static let verificationsPerSecond = 1_000

    private struct State {
        var limiter = FailureLimiter()
        var latest = Instant(nanoseconds: 0)
        /// Verifications for addresses over their limit, in the second that began at `secondStart`.
        var verifications = 0
        var secondStart = Instant(nanoseconds: 0)
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether an address may try a password. Unlike tokens, passwords can be guessed.
    package func allows(_ address: String, at now: Instant) -> Bool {
        state.withLock { $0.limiter.verdict(on: address, at: now) == .allowed }
    }

    /// Whether a token from this address may be verified.
    package func allowsVerification(from address: String, at now: Instant) -> Bool {
        state.withLock { state in
            guard state.limiter.verdict(on: address, at: now) != .allowed else { return true }
            if now - state.secondStart >= .seconds(1) { (state.secondStart, state.verifications) = (now, 0) }
            state.verifications += 1
            return state.verifications <= Self.verificationsPerSecond
        }
    }

    /// Records a failed authentication, unless the address is already over its limit.
    ///
    /// - Returns: whether the address was over its limit, so that the response is 429.
    @discardableResult
    package func recordFailure(from address: String, at now: Instant) -> Bool {
        state.withLock { state in
            // Shards read the clock at different times; the limiter requires monotonic time.
            state.latest = max(state.latest, now)
            let isOverLimit = state.limiter.verdict(on: address, at: state.latest) != .allowed
            if !isOverLimit { state.limiter.recordFailure(from: address, at: state.latest) }
            return isOverLimit
        }
    }
}

extension HTTPError {
    /// An invalid token or password from an address that is over the limit.
    package static let tooManyAttempts = HTTPError(
        .tooManyRequests, "too_many_attempts", "too many failed attempts from this address; wait a minute", retryAfterSeconds: 60)
}
