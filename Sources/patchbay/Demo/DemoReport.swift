import Audio
import Foundation
import PatchbayClient
import Wire

/// The result of the demonstration call.
struct DemoReport: Sendable {
    let joinTime: Duration
    let sent: [SpokenFrame]
    /// What the assistant returned to the user.
    let heard: [ReceivedFrame]
    let stopwatch: FrameStopwatch
    let unsent: UInt64
    let relayed: UInt64
    let path: String

    private var receivedByAssistant: Int { stopwatch.framesArrived(on: .toAssistant) }
    private var lost: Int { 2 * sent.count - receivedByAssistant - heard.count }
    private var packetsAreEqual: Bool { sent.map(\.packet) == heard.map(\.packet) }
    private var soundIsEqual: Bool {
        let spoken = Self.decode(sent.map(\.packet))
        return !spoken.isEmpty && spoken == Self.decode(heard.map(\.packet))
    }

    /// All packets returned bit for bit.
    var isPerfect: Bool { packetsAreEqual && soundIsEqual && lost == 0 && unsent == 0 && !sent.isEmpty }

    var text: String {
        var lines = [
            "", "  join time      \(Self.milliseconds(joinTime)) (TLS, token, hello)",
            "  frames         \(sent.count) sent, \(receivedByAssistant) received by the assistant, \(heard.count) returned to the user",
            "  relayed        \(relayed) by the gateway, \(lost) lost",
        ]
        for (way, name) in [(FrameStopwatch.Way.toAssistant, "user to assistant"), (.toUser, "assistant to user")] {
            let delays = stopwatch.delays(on: way)
            lines.append(
                String(format: "  added latency  p50 %.2f ms, p99 %.2f ms (%@)", delays.percentile(50), delays.percentile(99), name))
        }
        lines += [
            "  packets        \(packetsAreEqual ? "returned packets are identical to those sent" : "returned packets DIFFER from those sent")",
            "  audio          \(soundIsEqual ? "all \(Self.decode(sent.map(\.packet)).count) decoded samples are equal" : "the decoded audio DIFFERS")",
            "  saved as       \(path)", "",
        ]
        return lines.joined(separator: "\n")
    }

    private static func milliseconds(_ span: Duration) -> String {
        String(format: "%.1f ms", Double(span.inNanoseconds) / 1e6)
    }

    /// Empty if decoding fails.
    private static func decode(_ packets: [[UInt8]]) -> [Int16] {
        guard var decoder = try? OpusDecoder() else { return [] }
        var samples: [Int16] = []
        for packet in packets {
            guard let sound = try? decoder.decode(packet) else { return [] }
            samples += sound
        }
        return samples
    }
}
