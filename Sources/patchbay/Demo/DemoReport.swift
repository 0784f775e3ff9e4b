import Audio
import Foundation
import PatchbayClient
import Wire

/// The result of the demonstration call.
struct DemoReport: Sendable {
    private let joinTime: Duration
    private let sent: Int
    private let receivedByAssistant: Int
    private let returnedToUser: Int
    private let unsent: UInt64
    private let relayed: UInt64
    private let delays: [(way: String, delays: [Duration])]
    private let packetsAreEqual: Bool
    private let samples: Int
    private let soundIsEqual: Bool
    private let path: String

    init(
        joinTime: Duration, sent: [SpokenFrame], heard: [ReceivedFrame], stopwatch: FrameStopwatch, unsent: UInt64, relayed: UInt64,
        path: String
    ) {
        self.joinTime = joinTime
        self.sent = sent.count
        self.unsent = unsent
        self.relayed = relayed
        self.path = path
        receivedByAssistant = stopwatch.framesArrived(on: .toAssistant)
        returnedToUser = heard.count
        delays = [
            ("user to assistant", stopwatch.delays(on: .toAssistant)), ("assistant to user", stopwatch.delays(on: .toUser)),
        ]
        packetsAreEqual = sent.map(\.packet) == heard.map(\.packet)
        let spoken = Self.decode(sent.map(\.packet))
        samples = spoken.count
        soundIsEqual = !spoken.isEmpty && spoken == Self.decode(heard.map(\.packet))
    }

    private var lost: Int { 2 * sent - receivedByAssistant - returnedToUser }

    /// All packets returned bit for bit.
    var isPerfect: Bool { packetsAreEqual && soundIsEqual && lost == 0 && unsent == 0 && sent > 0 }

    var text: String {
        var lines = [
            "", "  join time      \(Self.milliseconds(joinTime)) (TLS, token, hello)",
            "  frames         \(sent) sent, \(receivedByAssistant) received by the assistant, \(returnedToUser) returned to the user",
            "  relayed        \(relayed) by the gateway, \(lost) lost",
        ]
        for (way, delays) in delays {
            lines.append(
                String(
                    format: "  added latency  p50 %.2f ms, p99 %.2f ms (%@)", delays.percentile(50), delays.percentile(99), way))
        }
        lines += [
            "  packets        \(packetsAreEqual ? "returned packets are identical to those sent" : "returned packets DIFFER from those sent")",
            "  audio          \(soundIsEqual ? "all \(samples) decoded samples are equal" : "the decoded audio DIFFERS")",
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
