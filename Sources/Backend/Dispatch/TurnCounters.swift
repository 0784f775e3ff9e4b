package import Wire

/// Counters of the turns that workers have reported.
package struct TurnCounters: Sendable {
    /// Upper bounds in seconds: from a first token of a rules engine to a slow model with tools.
    private static let bounds = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.9, 1.2, 2, 5, 10]

    private var histograms: [TurnMetrics.Stage: Histogram] = [:]
    package private(set) var interrupted: UInt64 = 0
    package private(set) var completed: UInt64 = 0
    /// Turns that workers did not report because too many waited.
    package private(set) var dropped: UInt64 = 0

    /// How long this stage took, in seconds, over all turns that had it.
    package func seconds(of stage: TurnMetrics.Stage) -> Histogram { histograms[stage] ?? Histogram(bounds: Self.bounds) }

    mutating func add(_ turns: [TurnMetrics], dropped: Int) {
        for turn in turns { add(turn) }
        self.dropped += UInt64(dropped)
    }

    private mutating func add(_ turn: TurnMetrics) {
        if turn.interrupted { interrupted += 1 } else { completed += 1 }
        for stage in TurnMetrics.Stage.allCases {
            guard let milliseconds = turn.milliseconds(of: stage) else { continue }
            histograms[stage, default: Histogram(bounds: Self.bounds)].add(Double(milliseconds) / 1_000)
        }
    }
}
