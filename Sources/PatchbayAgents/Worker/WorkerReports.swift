internal import Foundation
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

/// The CPU load of this process: the part of all processors' time that it used since the last reading.
struct LoadMeter {
    private let processors: Int
    /// The load at the latest measurement, 0 to 1.
    private(set) var load = 0.0
    private var last: (time: Instant, seconds: Double)?

    /// - Parameter processors: the processors that the process may use.
    init(processors: Int = ProcessInfo.processInfo.activeProcessorCount) {
        self.processors = max(1, processors)
    }

    /// - Parameters:
    ///   - seconds: CPU time that the process has used so far.
    /// - Returns: 0 to 1; 0 at the first reading.
    mutating func load(at now: Instant, seconds: Double) -> Double {
        defer { last = (now, seconds) }
        guard let last, now > last.time else { return 0 }
        let passed = Double((now - last.time).inNanoseconds) / 1e9
        return min(1, max(0, (seconds - last.seconds) / (passed * Double(processors))))
    }

    /// - Parameter reading: replaces the process's CPU time.
    mutating func measure(at now: Instant, with reading: (() -> Double)?) {
        load = reading?() ?? load(at: now, seconds: Self.processSeconds)
    }

    /// CPU time of this process, all threads together. Helper processes are not included.
    private static var processSeconds: Double {
        // POSIX fixes CLOCKS_PER_SEC at a million.
        Double(clock()) / 1_000_000
    }
}
