internal import Wire

/// Returns a user's access token that is currently valid.
public typealias UserTokenSource = @Sendable () async throws -> String

/// Decides when a channel needs a fresh token. A pure value; time is an argument.
struct TokenRenewal {
    /// The part of a token's remaining lifetime after which a new one is requested.
    private static let lifetimePart = 0.8
    /// Lower limit of that time, so that a source of nearly expired tokens is not called in a loop.
    private static let delayMin = Duration.seconds(1)
    private static let retryDelay = Duration.seconds(10)

    private(set) var dueAt: Instant?
    private(set) var isUnderWay = false

    /// The gateway accepts the current token for `lifetime`.
    mutating func schedule(validFor lifetime: Duration, at now: Instant) {
        isUnderWay = false
        dueAt = now + max(lifetime * Self.lifetimePart, Self.delayMin)
    }

    mutating func begin() {
        dueAt = nil
        isUnderWay = true
    }

    /// A fresh token is available.
    mutating func finish() {
        isUnderWay = false
    }

    mutating func fail(at now: Instant) {
        isUnderWay = false
        dueAt = now + Self.retryDelay
    }

    /// Disconnected: the next `hello` schedules again.
    mutating func suspend() {
        dueAt = nil
    }
}
