internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Synchronization
internal import Wire

/// Limits guesses, such as wrong passwords, by name: of an address, an account or a user (`FailureLimiter`). Shared by all requests.
///
/// In a cluster, failures count on all nodes, except those by address.
final class GuessLimit: Sendable {
    static let addressPrefix = "address "

    private let limiter = Mutex(FailureLimiter())
    private let failureHandler = Mutex<(@Sendable (String, Int) -> Void)?>(nil)

    /// - Parameter body: called with the name and number of failures that also count on other nodes.
    func onFailure(_ body: @escaping @Sendable (String, Int) -> Void) { failureHandler.withLock { $0 = body } }

    /// Counts failures that occurred on another node.
    func note(_ failures: Int, of name: String) {
        limiter.withLock { limiter in
            for _ in 0..<min(failures, FailureLimiter.failuresMax) { limiter.recordFailure(of: name, at: .now) }
        }
    }

    /// Runs an attempt, which has failed if `body` returns nil. An error is no failure: nothing was guessed.
    ///
    /// - Throws: 429 if one of the names is over its limit; any error of `body`.
    func attempt<T>(by names: [String], _ body: () async throws -> T?) async throws -> T? {
        guard let reservation = reserve(1, for: names) else { throw error(for: names) }
        var failures = 0
        defer { settle(reservation, failures: failures) }
        let result = try await body()
        if result == nil { failures = 1 }
        return result
    }

    func reserve(_ count: Int, for names: [String]) -> FailureLimiter.Reservation? {
        limiter.withLock { $0.reserve(count, for: names, at: .now) }
    }

    func settle(_ reservation: FailureLimiter.Reservation, failures: Int) {
        limiter.withLock { $0.settle(reservation, failures: failures, at: .now) }
        guard failures > 0, let handler = failureHandler.withLock({ $0 }) else { return }
        for name in reservation.keys where !name.hasPrefix(Self.addressPrefix) { handler(name, failures) }
    }

    /// The error for names over their limit. Attempts in progress may turn out to be right, so that it is worth trying again soon.
    private func error(for names: [String]) -> HTTPError {
        let hasPending = limiter.withLock { names.contains(where: $0.hasPending) }
        return HTTPError(.tooManyAttempts, "too many failed attempts; wait a minute", retryAfterSeconds: hasPending ? 1 : 60)
    }
}

/// A limit on the rate of one kind of request, by address or user (`RateLimiter`). Shared by all requests.
final class RequestRate: Sendable {
    private let limiter: Mutex<RateLimiter<String>>?
    private let error: HTTPError

    /// - Parameters:
    ///   - count: requests that a source may make at once; 0 for no limit.
    ///   - span: the time in which as many are allowed again.
    ///   - error: `Retry-After` is added.
    init(_ count: Int, per span: Duration, _ error: HTTPError) {
        limiter = count > 0 ? Mutex(RateLimiter(count, per: span)) : nil
        self.error = error
    }

    /// - Throws: 429 if the source has to wait.
    func check(_ source: String, at now: Instant) throws(HTTPError) {
        guard let wait = limiter?.withLock({ $0.take(for: source, at: now) }) else { return }
        var error = error
        error.retryAfterSeconds = Int(wait.components.seconds) + 1
        throw error
    }
}
