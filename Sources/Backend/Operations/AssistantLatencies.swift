internal import DequeModule
internal import HTTPServer
internal import Wire

/// The latencies of each assistant's recent turns, as reported by workers.
///
/// Keeps the last `turnsMax` turns of the `assistantsMax` assistants that reported last.
struct AssistantLatencies: Sendable {
    static let assistantsMax = 50
    static let turnsMax = 200

    private struct Recent {
        var assistant: String
        var turns: Deque<TurnMetrics> = []
        /// The time of the last report, in milliseconds since 1970.
        var at: Int64 = 0
    }

    /// Assistants in the order of their last report, the latest at the end.
    private var recents: [Recent] = []

    mutating func add(_ turns: [TurnMetrics], of assistant: String, at time: Int64) {
        guard !turns.isEmpty else { return }
        var recent = Recent(assistant: assistant)
        if let index = recents.firstIndex(where: { $0.assistant == assistant }) {
            recent = recents.remove(at: index)
        } else if recents.count == Self.assistantsMax {
            recents.removeFirst()
        }
        recent.at = time
        recent.turns.append(contentsOf: turns.suffix(Self.turnsMax))
        recent.turns.removeFirst(max(0, recent.turns.count - Self.turnsMax))
        recents.append(recent)
    }

    /// One view for each assistant.
    var views: [AssistantLatencyView] {
        recents.sorted { $0.assistant < $1.assistant }.map { recent in
            AssistantLatencyView(
                assistant: recent.assistant, at: recent.at, turns: recent.turns.count,
                interrupted: recent.turns.count(where: \.interrupted),
                stages: TurnMetrics.Stage.allCases.compactMap { stage in
                    StageLatencyView(stage, recent.turns.compactMap { $0.milliseconds(of: stage) })
                })
        }
    }
}

/// The latencies of an assistant's recent turns.
struct AssistantLatencyView: Encodable, Sendable, Hashable, Described {
    var assistant: String
    /// The time of the last report, in milliseconds since 1970.
    var at: Int64
    var turns: Int
    var interrupted: Int
    /// The stages that took place.
    var stages: [StageLatencyView]

    static let schema = Schema.named(
        "AssistantLatency",
        .object([
            .required("assistant", .text), .required("at", .count), .required("turns", .count), .required("interrupted", .count),
            .required("stages", .array(of: StageLatencyView.schema, atMost: TurnMetrics.Stage.allCases.count)),
        ]))
}

struct StageLatencyView: Encodable, Sendable, Hashable, Described {
    var stage: String
    var medianMs: Int
    var p95Ms: Int

    static let schema = Schema.named(
        "StageLatency",
        .object([
            .required("stage", .choice(TurnMetrics.Stage.allCases.map(\.rawValue))), .required("median_ms", .count),
            .required("p95_ms", .count),
        ]))

    /// Returns nil if there are no values.
    init?(_ stage: TurnMetrics.Stage, _ milliseconds: [Int]) {
        guard !milliseconds.isEmpty else { return nil }
        let sorted = milliseconds.sorted()
        self.stage = stage.rawValue
        // The nearest-rank percentile.
        medianMs = sorted[(sorted.count - 1) / 2]
        p95Ms = sorted[(sorted.count * 95 + 99) / 100 - 1]
    }
}
