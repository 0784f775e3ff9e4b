import Foundation

/// The results of all interruptions.
struct BargeInReport {
    struct Try {
        /// From the request until the last old sample left the player.
        let silentAfter: Duration
        let repliedAfter: Duration
        /// As reported by the gateway.
        let playedMs: Double
        /// As counted by the player, including its fade-out of 10 ms.
        let countedMs: Double
        let isEstimated: Bool
    }

    private var tries: [Try] = []

    mutating func add(_ result: Try) { tries.append(result) }

    private var silences: [Double] { tries.map { $0.silentAfter / .milliseconds(1) }.sorted() }
    private var replies: [Double] { tries.map { $0.repliedAfter / .milliseconds(1) }.sorted() }
    /// Positive if the player played more than the gateway reported.
    private var errors: [Double] { tries.map { $0.countedMs - $0.playedMs }.sorted() }

    private func percentile(_ percent: Int, of sorted: [Double]) -> Double {
        sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
    }

    var isWithinBounds: Bool {
        percentile(99, of: silences) <= 40 && percentile(99, of: errors.map(abs).sorted()) <= 20 && tries.allSatisfy { !$0.isEstimated }
    }

    var text: String {
        func line(_ sorted: [Double]) -> String {
            [("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)].map { name, percent in
                name + String(format: " %.1f ms", percentile(percent, of: sorted))
            }.joined(separator: ", ")
        }
        return """
            \(tries.count) interruptions
              last old sample  \(line(silences))
              reply            \(line(replies))
              player counted more than played_ms by  \(String(format: "%.1f", errors.first ?? 0)) to \(String(format: "%.1f", errors.last ?? 0)) ms, p50 \
            \(String(format: "%.1f", percentile(50, of: errors))) ms
            """
    }

    var json: String {
        get throws {
            struct Report: Encodable {
                let tries: Int
                let silentP50, silentP99, silentMax, replyP99, errorMin, errorP50, errorMax: Double
                let good: Bool
            }
            let report = Report(
                tries: tries.count, silentP50: percentile(50, of: silences), silentP99: percentile(99, of: silences),
                silentMax: silences.last ?? 0, replyP99: percentile(99, of: replies), errorMin: errors.first ?? 0,
                errorP50: percentile(50, of: errors), errorMax: errors.last ?? 0, good: isWithinBounds)
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return String(decoding: try encoder.encode(report), as: UTF8.self)
        }
    }
}
