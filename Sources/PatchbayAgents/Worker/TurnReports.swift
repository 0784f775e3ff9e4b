internal import Synchronization
internal import Wire

/// Metrics of turns that wait to be reported to the gateway. Thread-safe.
final class TurnReports: Sendable {
    /// Turns that wait while the gateway cannot be reached. Beyond it the oldest are dropped.
    static let waitingMax = 256

    private struct State {
        /// Oldest first.
        var turns: [TurnMetrics] = []
        private(set) var dropped = 0

        mutating func countDropped() {
            dropped = min(dropped + 1, ProtocolLimits.turnsDroppedMax)
        }

        /// The oldest turns, as many as fit into one report.
        mutating func take() -> (turns: [TurnMetrics], dropped: Int) {
            let next = (Array(turns.prefix(ProtocolLimits.turnsPerReportMax)), dropped)
            turns.removeFirst(next.0.count)
            dropped = 0
            return next
        }
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.turns.isEmpty && $0.dropped == 0 } }

    /// A turn that the gateway would refuse counts as dropped, because it would refuse the others of its report as well.
    func append(_ turn: TurnMetrics) {
        state.withLock { state in
            guard turn.fault == nil else { return state.countDropped() }
            if state.turns.count == Self.waitingMax {
                state.turns.removeFirst()
                state.countDropped()
            }
            state.turns.append(turn)
        }
    }

    /// Takes the oldest turns, as many as fit into one report, and how many were dropped since the last one.
    func take() -> (turns: [TurnMetrics], dropped: Int) {
        state.withLock { $0.take() }
    }
}
