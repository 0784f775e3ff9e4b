internal import Wire

/// Gives a user's access token that is good now.
public typealias UserTokenSource = @Sendable () async throws -> String

/// When a channel needs a fresher token, and whether one is on its way. A pure value; time is an argument.
struct TokenRenewal {
    /// Of the time that a token has left, how much passes before another one is asked for.
    private static let part = 0.8
    /// But not less: a source that gives tokens which are as good as over is not asked without end.
    private static let spanMin = Duration.seconds(1)
    /// After an attempt in vain.
    private static let pause = Duration.seconds(10)

    private(set) var dueAt: Instant?
    private(set) var isUnderWay = false

    /// The gateway believes the present token for so long.
    mutating func isGood(for span: Duration, at now: Instant) {
        isUnderWay = false
        dueAt = now + max(span * Self.part, Self.spanMin)
    }

    mutating func begin() {
        dueAt = nil
        isUnderWay = true
    }

    /// There is another token, and it is to be shown to the gateway.
    mutating func found() {
        isUnderWay = false
    }

    mutating func failed(at now: Instant) {
        isUnderWay = false
        dueAt = now + Self.pause
    }

    /// Without a connection nothing falls due; the next one's `hello` tells anew.
    mutating func pause() {
        dueAt = nil
    }
}
