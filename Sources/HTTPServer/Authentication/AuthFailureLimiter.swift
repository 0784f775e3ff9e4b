internal import Identity
internal import Synchronization
package import Wire

/// Counts failed authentications per address, for all shards together, so that an address does not get as many attempts as there are threads.
///
/// A limited address still has its tokens verified: a valid one passes, an invalid one answers 429 instead of 401. Whoever shares an address with an
/// attacker is not locked out. Passwords are the exception: hashing one is expensive, so a limited address is refused before.
package final class AuthFailureLimiter: Sendable {
    private struct State {
        var limiter = FailureLimiter()
        var latest = Instant(nanoseconds: 0)
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether the address is below the limit.
    package func allows(_ address: String, at now: Instant) -> Bool {
        state.withLock { $0.limiter.verdict(on: address, at: now) == .allowed }
    }

    /// Shards read one clock at different times; the limiter never sees it go back.
    package func recordFailure(from address: String, at now: Instant) {
        state.withLock { state in
            state.latest = max(state.latest, now)
            state.limiter.recordFailure(from: address, at: state.latest)
        }
    }
}
