/// How many calls a gateway carries: grows by half until an attempt fails, then halves the gap. Decides, and runs nothing.
///
/// A failure is believed when it happens twice in a row: machines have hiccups, and one would else set the limit far too low.
struct CapacitySearch: Sendable, Hashable {
    enum Verdict: Sendable, Hashable {
        case good
        /// The gateway lost frames, was too slow or refused: why, in words.
        case bad(String)
        /// Our own schedule was missed: says nothing about the gateway.
        case generatorBehind
    }

    enum Step: Sendable, Hashable {
        case attempt(calls: Int)
        case over(Outcome)
    }

    struct Outcome: Sendable, Hashable {
        /// The most calls that went well; nil if even the least did not.
        var calls: Int?
        /// What the next attempt failed of; nil if `most` went well.
        var limit: String?
        /// Whether it was ourselves who could not do more.
        var wasGenerator: Bool
    }

    let most: Int
    private var good: Int?
    private var bad: (calls: Int, reason: String, wasGenerator: Bool)?
    private var next: Int
    private var hasFailedOnce = false

    init(from first: Int, most: Int = 20_000) {
        self.most = most
        next = min(max(1, first), most)
    }

    var step: Step {
        if isOver { return .over(Outcome(calls: good, limit: bad?.reason, wasGenerator: bad?.wasGenerator ?? false)) }
        return .attempt(calls: next)
    }

    /// The gap is under 4 % of what went well, or there is nothing between.
    private var isOver: Bool {
        guard let bad else { return good == most }
        guard let good else { return bad.calls == 1 }
        return bad.calls - good <= max(1, good / 25)
    }

    /// Takes how the attempt went that `step` asked for.
    mutating func take(_ verdict: Verdict) {
        if verdict != .good, !hasFailedOnce {
            hasFailedOnce = true
            return
        }
        hasFailedOnce = false
        switch verdict {
        case .good: good = max(good ?? 0, next)
        case .bad(let reason): bad = (next, "at \(next) calls \(reason)", false)
        case .generatorBehind: bad = (next, "at \(next) calls the generator itself was behind", true)
        }
        if let bad {
            next = good.map { ($0 + bad.calls) / 2 } ?? max(1, bad.calls / 2)
        } else {
            next = min(most, max(next + 1, next + next / 2))
        }
    }

    static func == (left: CapacitySearch, right: CapacitySearch) -> Bool { left.step == right.step && left.good == right.good }
    func hash(into hasher: inout Hasher) { hasher.combine(next) }
}
