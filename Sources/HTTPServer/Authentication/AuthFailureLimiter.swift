internal import HTTPTypes
internal import Identity
internal import Synchronization
package import Wire

/// Failed authentications of all shards together, so that an address does not get as many attempts as there are threads.
///
/// A token is verified before the address's failures are looked at: a valid token is accepted from any address, for many clients may share
/// one. Once an address has failed too often (`FailureLimiter`), a further failure is answered with 429 instead of 401. A request without a
/// token is no failure.
///
/// So that failures cannot be used to exhaust the CPU, tokens from such addresses are verified at most `verificationsPerSecond` times a
/// second in all; a verification takes 0.02 to 0.1 ms, so this is at most a tenth of one core. Beyond it they get 429 unverified.
package final class AuthFailureLimiter: Sendable {
    package static let verificationsPerSecond = 1_000

    private struct State {
        var limiter = FailureLimiter()
        var latest = Instant(nanoseconds: 0)
        /// Verifications in the second that began at `secondStart`, of tokens from addresses over their limit.
        var verifications = 0
        var secondStart = Instant(nanoseconds: 0)
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether an attempt may be made at all: for passwords, which are guessed, unlike tokens.
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

    /// Records a failed authentication, unless the address has failed too often already.
    ///
    /// - Returns: whether it has, so that the answer is 429.
    @discardableResult
    package func recordFailure(from address: String, at now: Instant) -> Bool {
        state.withLock { state in
            // Shards read the clock at different times; the limiter requires that it does not go back.
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
