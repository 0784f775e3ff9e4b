import Foundation
import PatchbayClient
import Wire

/// An event as one line of JSON: the gateway's events as received, local events in the same form without `seq`.
enum EventJSON {
    static func line(_ event: RoomEvent) -> String {
        switch event {
        case .gateway(let event, let seq): String(decoding: EncodedEvent(event).bytes(seq: seq), as: UTF8.self)
        case .unknown(let type, let seq): encode(Line(type: type, seq: seq, data: Fields()))
        case .reconnecting(let attempt, let delay, let reason):
            encode(
                Line(type: "reconnecting", data: Fields(attempt: attempt, delayMs: delay.inMilliseconds, reason: reason.description)))
        case .reconnected: encode(Line(type: "reconnected", data: Fields()))
        case .trackRepublished(let track, let before):
            encode(Line(type: "track.republished", data: Fields(track: track.sid.text, was: before.text)))
        case .trackLost(let track, let failure):
            encode(Line(type: "track.lost", data: Fields(reason: failure.description, track: track.sid.text)))
        case .disconnected(let reason): encode(Line(type: "disconnected", data: Fields(reason: reason.description)))
        }
    }

    static func line(_ report: PlayoutReport) -> String {
        encode(Line(type: "playout.statistics", data: report))
    }

    private struct Line<Content: Encodable>: Encodable {
        var type: String
        var seq: UInt64?
        var data: Content
    }

    private struct Fields: Encodable {
        var attempt: Int?
        var delayMs: Int64?
        var reason: String?
        var track: String?
        var was: String?
    }

    private static func encode(_ line: Line<some Encodable>) -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(line)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
