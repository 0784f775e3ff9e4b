/// Finds the largest number of calls that a gateway supports: grows by half until an attempt fails, then bisects. A pure state machine.
///
/// A failed attempt is repeated once, so that a disturbance of the machine does not determine the result.
struct CapacitySearch: Sendable, Hashable {
    enum Verdict: Sendable, Hashable {
        case good
        /// The gateway lost frames, was too slow or refused requests, with the reason.
        case bad(String)
        /// The generator missed its own schedule, so the attempt is inconclusive.
        case generatorBehind
    }

    enum Step: Sendable, Hashable {
        case attempt(calls: Int)
        case over(Outcome)
    }

    struct Outcome: Sendable, Hashable {
        /// The largest successful number of calls; nil if none was.
        var calls: Int?
        /// Why the next attempt failed; nil if `maximum` calls succeeded.
        var limit: String?
        /// The generator, not the gateway, was the limit.
        var wasGenerator: Bool
    }

    let maximum: Int
    private var good: Int?
    private var bad: (calls: Int, reason: String, wasGenerator: Bool)?
    private var next: Int
    private var hasFailedOnce = false

    init(from first: Int, maximum: Int = 20_000) {
        self.maximum = maximum
        next = min(max(1, first), maximum)
    }

    var step: Step {
        if isOver { return .over(Outcome(calls: good, limit: bad?.reason, wasGenerator: bad?.wasGenerator ?? false)) }
        return .attempt(calls: next)
    }

    /// The gap is below 4 % of the largest success, or empty.
    private var isOver: Bool {
        guard let bad else { return good == maximum }
        guard let good else { return bad.calls == 1 }
        return bad.calls - good <= max(1, good / 25)
    }

    /// Records the result of the attempt that `step` requested.
    mutating func record(_ verdict: Verdict) {
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
            next = min(maximum, max(next + 1, next + next / 2))
        }
    }

    static func == (left: CapacitySearch, right: CapacitySearch) -> Bool { left.step == right.step && left.good == right.good }
    func hash(into hasher: inout Hasher) { hasher.combine(next) }
}
