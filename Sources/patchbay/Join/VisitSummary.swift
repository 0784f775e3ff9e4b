import Foundation
import PatchbayClient
import Wire

/// The results of one stay in a room.
struct VisitSummary: Encodable {
    var room: String
    var identity: String
    var seconds: Double
    var framesSent: UInt64
    var framesUnsent: UInt64
    var framesReceived: UInt64
    var framesLost: UInt64
    /// Published, but cleared before they arrived.
    var framesCleared: UInt64
    var roundTripMs: Double?
    var reconnects: UInt64
    var recordings: [String]
    /// Tracks played by `--listen`.
    var played: [PlayoutReport]
    var ended: String

    /// The stay was ended by the gateway or a failure.
    let endedBadly: Bool

    private enum CodingKeys: String, CodingKey {
        case room, identity, seconds, framesSent, framesUnsent, framesReceived, framesLost, framesCleared, roundTripMs, reconnects
        case recordings, played, ended
    }

    /// - Parameter disconnection: why the stay ended; nil if this client left.
    init(of connection: RoomConnection, lasted: Duration, recordings: [String], played: [PlayoutReport], disconnection: Disconnection?) {
        let statistics = connection.statistics
        let snapshot = connection.snapshot
        room = snapshot.room.name
        identity = snapshot.local.identity.text
        seconds = Double(lasted.inMilliseconds) / 1_000
        framesSent = statistics.framesSent
        framesUnsent = statistics.framesUnsent
        framesReceived = statistics.framesReceived
        framesLost = statistics.framesLost
        framesCleared = statistics.framesCleared
        roundTripMs = statistics.roundTrip.map { (Double($0.inNanoseconds) / 10_000).rounded() / 100 }
        reconnects = statistics.reconnects
        self.recordings = recordings
        self.played = played
        ended = (disconnection ?? .left).description
        endedBadly = disconnection != nil
    }

    var text: String {
        var lines = [
            "\(identity) was in \(room) for \(String(format: "%.1f", seconds)) s; \(ended)",
            "  frames sent \(framesSent), received \(framesReceived), lost \(framesLost)"
                + (framesCleared > 0 ? ", cleared \(framesCleared)" : "") + (framesUnsent > 0 ? ", not sent \(framesUnsent)" : ""),
        ]
        if let roundTripMs { lines.append("  round trip \(roundTripMs) ms") }
        if reconnects > 0 { lines.append("  reconnected \(reconnects) times") }
        if !recordings.isEmpty { lines.append("  recorded \(recordings.joined(separator: ", "))") }
        lines += played.map { "  \($0.text)" }
        return lines.joined(separator: "\n")
    }

    var json: String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(Line(data: self))).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private struct Line: Encodable {
        var type = "summary"
        var data: VisitSummary
    }
}
