internal import HTTPServer
internal import HTTPTypes
internal import Synchronization
package import Wire

/// Token buckets by source, such as an address or a user: each starts full and is refilled evenly.
///
/// A source is remembered until its bucket is full again, for the last `sourcesMax` to twice as many sources. Beyond that, the oldest
/// ones are forgotten: an attacker with that many addresses is not stopped by a limit per address. All operations take constant time.
package struct TokenBuckets: Sendable {
    /// The tokens of a full bucket, and the time in which an empty one fills.
    private let tokens: Int
    private let span: Duration
    private let sourcesMax: Int
    /// When each source's bucket would be full again, for sources seen in this generation and in the one before. A source that is in
    /// neither has a full bucket: a generation lasts as long as an empty bucket needs.
    private var recent: [String: Instant] = [:]
    private var older: [String: Instant] = [:]
    private var generationEnds: Instant?
    private var latest = Instant(nanoseconds: 0)

    /// - Parameter tokens: at least 1.
    package init(of tokens: Int, per span: Duration, sourcesMax: Int = 65_536) {
        precondition(tokens > 0 && span > .zero && sourcesMax > 0, "limits must be positive")
        self.tokens = tokens
        self.span = span
        self.sourcesMax = sourcesMax
    }

    package var sourceCount: Int { recent.count + older.count }

    /// Takes a token from a source's bucket.
    ///
    /// - Parameter now: may be a little earlier than that of an earlier call, because shards read the clock at different times.
    /// - Returns: nil if there was one; otherwise the time until there is one, above zero.
    package mutating func take(for source: String, at now: Instant) -> Duration? {
        latest = max(latest, now)
        let now = latest
        startGeneration(at: now)
        let perToken = span / tokens
        let full = max(recent[source] ?? older[source] ?? now, now)
        let wait = full + perToken - now - span
        guard wait <= .zero else { return wait }
        older[source] = nil
        recent[source] = full + perToken
        return nil
    }

    private mutating func startGeneration(at now: Instant) {
        let ends = generationEnds ?? now + span
        generationEnds = ends
        guard now >= ends || recent.count >= sourcesMax else { return }
        older = recent
        recent = [:]
        generationEnds = now + span
    }
}

/// A limit on the rate of one kind of request, shared by all requests of a running gateway.
final class RateLimiter: Sendable {
    private let buckets: Mutex<TokenBuckets>?
    private let error: HTTPError

    /// - Parameters:
    ///   - tokens: requests that a source may make at once; 0 for no limit.
    ///   - span: the time in which as many are allowed again.
    ///   - code: the error's code, with status 429.
    init(_ tokens: Int, per span: Duration, code: String, message: String) {
        buckets = tokens > 0 ? Mutex(TokenBuckets(of: tokens, per: span)) : nil
        error = HTTPError(.tooManyRequests, code, message)
    }

    /// - Throws: 429 if the source has to wait.
    func check(_ source: String, at now: Instant) throws(HTTPError) {
        guard let wait = buckets?.withLock({ $0.take(for: source, at: now) }) else { return }
        var error = error
        error.retryAfterSeconds = Int(wait.components.seconds) + 1
        throw error
    }
}

extension RateLimiter {
    /// Accounts that an address may try to create. An attempt counts even if the e-mail address is taken: each costs a password hash, and
    /// the response reveals whether the address has an account.
    static func registrations(perHour: Int) -> RateLimiter {
        RateLimiter(
            perHour, per: .seconds(3_600), code: "too_many_registrations",
            message: "too many accounts were created from this address; try again later")
    }

    /// Texts that a user may add to conversations.
    static func conversationTexts() -> RateLimiter {
        RateLimiter(50, per: .seconds(10), code: "too_many_events", message: "too many texts in a short time; try again later")
    }

    /// Users that a user may invite to conversations.
    static func conversationInvitations() -> RateLimiter {
        RateLimiter(60, per: .seconds(60), code: "too_many_invitations", message: "too many invitations in a short time; try again later")
    }
}
