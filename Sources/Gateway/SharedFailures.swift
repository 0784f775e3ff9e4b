internal import Identity
internal import Synchronization
internal import Wire

/// The failed attempts of all shards together: an address does not get as many attempts as there are threads.
final class SharedFailures: Sendable {
    private let limiter = Mutex(FailureLimiter())

    func mayTry(_ address: String, at now: Instant) -> Bool {
        limiter.withLock { $0.verdict(on: address, at: now) == .mayTry }
    }

    /// The shards' clocks are one clock, read at different times: the limiter is never told that it went back.
    func record(from address: String, at now: Instant) {
        limiter.withLock { $0.recordFailure(from: address, at: now) }
    }
}
