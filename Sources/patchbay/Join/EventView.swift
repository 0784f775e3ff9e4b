import Foundation
import PatchbayClient
import Wire

/// An event as text for people; nil for events that are not shown.
enum EventText {
    static func describe(_ event: RoomEvent) -> String? {
        switch event {
        case .gateway(let event, _): describe(event)
        case .unknown(let type, _): "unknown event: \(type)"
        case .reconnecting(let attempt, let delay, let reason):
            "\(reason); reconnect attempt \(attempt)" + (delay > .zero ? " in \(delay.inMilliseconds) ms" : "")
        case .reconnected: "reconnected"
        case .trackRepublished(let track, let before): "track \(before) was published again as \(track.sid)"
        case .trackLost(let track, let failure): "track \(track.sid) could not be published again: \(failure)"
        case .disconnected(let reason): "\(reason)"
        }
    }

    private static func describe(_ event: Event) -> String? {
        switch event {
        // Followed by the event of the reconnection.
        case .hello(let hello) where hello.resumed == true: nil
        case .hello(let hello):
            "in room \(hello.room.name) as \(hello.participant.identity), with "
                + (hello.participants.isEmpty ? "nobody else" : hello.participants.map(\.identity.text).joined(separator: ", "))
        case .participantJoined(let info): "\(info.identity) joined"
        case .participantLeft(let who, let reason): "\(who) left (\(words(reason)))"
        case .participantUpdated(let info, let connection): connection == .reconnecting ? "\(info.identity) is reconnecting" : nil
        case .trackPublished(let track): "\(track.participant) publishes \(track.source) \(track.sid)"
        case .trackUnpublished(let track, let who): "\(who) unpublished \(track)"
        case .trackMuted(let track, let who): "\(who) is muted (\(track))"
        case .trackUnmuted(let track, let who): "\(who) is unmuted (\(track))"
        case .speakersChanged(let speakers):
            "speaking: " + (speakers.filter(\.active).map { "\($0.participant) \(bar($0.level))" }.joined(separator: ", ").orNobody)
        case .qualityChanged(let who, let quality): "\(who) has \(quality) quality"
        case .talkStarted(let who, _, _): "\(who) talks"
        case .talkStopped(let who, _, _, let reason): "\(who) has stopped talking (\(reason))"
        case .talkEarlier(let who, _, let start, let live):
            "\(who) has talked for \(Int(live.distance(from: start)) / MediaTime.ticksPerMillisecond) ms before"
        case .silence(let who, let span): "\(who) has been silent for \(span / 1_000) s"
        case .segment(let segment): "\(segment.participant?.text ?? segment.role.rawValue): \"\(segment.text)\"\(segment.final ? "" : "…")"
        case .agentState(let who, let state): "\(who) is \(state)"
        case .agentJoined(let info): "the assistant \(info.identity) joined"
        case .agentLost(let who, let reason): "the assistant \(who) was lost (\(words(reason)))"
        case .agentWaiting(_, .busy): "All assistants are busy; one comes as soon as it is free"
        case .agentWaiting(let who, .noWorker): "no process of \(who) is connected; start one with `patchbay agent start`"
        case .agentWaiting(let who, .ended): "\(who) does not come"
        case .data(let who, let topic, let payload): "\(who) sends \(payload.byteCount) bytes with topic \(topic)"
        case .text(_, let who, _, let text): "\(who) writes: \(text)"
        case .procedureCalled(_, let who, let method, _, _): "\(who) calls \(method)"
        case .digits(let who, let digits): "\(who) dials \(digits)"
        case .callHeld(let who): "\(who) is on hold"
        case .callResumed(let who): "\(who) is no longer on hold"
        case .callMuted(let who): "\(who) is muted"
        case .callUnmuted(let who): "\(who) is unmuted"
        case .playoutMarked(let track, let name, let status, _): "mark \"\(name)\" of \(track): \(status)"
        case .playoutCleared(let cut, let who): "\(who) cleared \(cut.track) after \(cut.heard.playedMs) ms"
        case .playoutStarted(_, let who, _, _): "playout of \(who) started"
        case .playoutFinished(_, let who, _, let heard): "playout of \(who) finished after \(heard.playedMs) ms"
        case .playoutBacklog(let track, let state, let queued, let dropped):
            "\(track) is \(queued / 1_000) s ahead (\(state))" + (dropped > 0 ? ", \(dropped) frames refused" : "")
        case .recordingStarted: "the room is being recorded"
        case .recordingStopped(_, let reason): reason == .failed ? "the recording has failed" : "the recording has ended"
        case .callEnded(let reason): "the call has ended (\(reason))"
        case .roomUpdated: "the room's metadata changed"
        case .serverDraining: "the gateway is shutting down"
        case .bye(let reason, _): "the gateway closes the connection (\(words(reason)))"
        case .tokenRefreshed, .stats: nil
        }
    }

    /// LiveKit's name in lower case.
    private static func words(_ reason: DisconnectReason) -> String {
        reason.rawValue.lowercased().replacing("_", with: " ")
    }

    /// A level meter with eight steps.
    private static func bar(_ level: Double) -> String {
        let full = max(0, min(8, Int((level * 8).rounded())))
        return String(repeating: "▮", count: full) + String(repeating: "▯", count: 8 - full)
    }
}

extension String {
    fileprivate var orNobody: String { isEmpty ? "nobody" : self }
}

/// Prints events on standard output, one per line.
struct EventView: Sendable {
    enum Form: Sendable {
        case none, json, readable
    }

    let form: Form

    func show(_ event: RoomEvent) {
        switch form {
        case .none: break
        case .json: Console.say(EventJSON.line(event))
        case .readable: if let text = EventText.describe(event) { Console.say("\(Self.timeOfDay)  \(text)") }
        }
    }

    /// Printed for scripts only; people read the summary.
    func show(_ report: PlayoutReport) {
        if form == .json { Console.say(EventJSON.line("playout.statistics", report)) }
    }

    /// Local time to the millisecond.
    static var timeOfDay: String {
        let now = Date()
        let parts = Calendar.current.dateComponents([.hour, .minute, .second, .nanosecond], from: now)
        return String(
            format: "%02d:%02d:%02d.%03d", parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0, (parts.nanosecond ?? 0) / 1_000_000)
    }
}

/// An event as one line of JSON: the gateway's events as received, local events in the same form without `seq`.
enum EventJSON {
    static func line(_ event: RoomEvent) -> String {
        switch event {
        case .gateway(let event, let seq): String(decoding: EncodedEvent(event).bytes(seq: seq), as: UTF8.self)
        case .unknown(let type, let seq): Console.line(of: Line(type: type, seq: seq, data: Fields()))
        case .reconnecting(let attempt, let delay, let reason):
            line("reconnecting", Fields(attempt: attempt, delayMs: delay.inMilliseconds, reason: reason.description))
        case .reconnected: line("reconnected", Fields())
        case .trackRepublished(let track, let before):
            line("track.republished", Fields(track: track.sid.text, was: before.text))
        case .trackLost(let track, let failure):
            line("track.lost", Fields(reason: failure.description, track: track.sid.text))
        case .disconnected(let reason): line("disconnected", Fields(reason: reason.description))
        }
    }

    /// Data in the form of an event of the gateway.
    static func line(_ type: String, _ data: some Encodable) -> String { Console.line(of: Line(type: type, data: data)) }

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
}
