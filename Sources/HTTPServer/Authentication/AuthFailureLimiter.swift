internal import Identity
internal import Synchronization
package import Wire

/// The failed attempts of all shards together: an address does not get as many attempts as there are threads.
package final class AuthFailureLimiter: Sendable {
    private struct State {
        var limiter = FailureLimiter()
        var latest = Instant(nanoseconds: 0)
    }

    private let state = Mutex(State())

    package init() {}

    package func mayTry(_ address: String, at now: Instant) -> Bool {
        state.withLock { $0.limiter.verdict(on: address, at: now) == .allowed }
    }

    /// The shards' clocks are one clock, read at different times: the limiter is never told that it went back.
    package func record(from address: String, at now: Instant) {
        state.withLock { state in
            state.latest = max(state.latest, now)
            state.limiter.recordFailure(from: address, at: state.latest)
        }
    }
}
