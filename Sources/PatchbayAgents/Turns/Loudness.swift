/// How much the level of an utterance varies: that of one voice near a microphone does, that of many voices together hardly. A pure value.
struct Loudness: Sendable, Hashable {
    /// Silence in a recording is not quieter than a quiet room, in dBov.
    private static let levelMin = -60.0

    private var count = 0.0
    private var sum = 0.0
    private var squares = 0.0

    /// - Parameter level: of a window with speech, in dBov.
    mutating func append(_ level: Double) {
        let level = max(level, Self.levelMin)
        count += 1
        sum += level
        squares += level * level
    }

    /// The mean level, in dBov.
    var mean: Double { count > 0 ? sum / count : Self.levelMin }

    /// The standard deviation of the level, in dB.
    var spread: Double {
        guard count > 0 else { return 0 }
        return max(squares / count - mean * mean, 0).squareRoot()
    }
}

/// The level of a microphone between utterances: that of the room. A pure value.
struct BackgroundLevel: Sendable, Hashable {
    /// The share of a window in the mean: it follows a change within about a second.
    private static let share = 0.03

    /// dBov; nil before the first window.
    private(set) var value: Double?

    /// - Parameter level: of a window outside of utterances, in dBov.
    mutating func append(_ level: Double) {
        value = value.map { $0 + (level - $0) * Self.share } ?? level
    }
}
