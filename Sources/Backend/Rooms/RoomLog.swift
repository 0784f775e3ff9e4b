internal import DequeModule
package import Engine
package import HTTPServer
package import Wire

/// The latest events of an open room, for administrators: participants, tracks, hold and recordings, but nothing that was said or written.
///
/// Kept in memory until the room ends. Written for joins, departures and changes of tracks, never for a frame.
package struct RoomLog: Sendable {
    /// Older events are removed.
    package static let countMax = 200

    private var entries: Deque<RoomLogEntry> = []
    private var removed = 0

    package init() {}

    /// - Parameter time: milliseconds since 1970.
    package mutating func append(_ event: Room.AuditEvent, at time: Int64) {
        if let entry = RoomLogEntry(event, at: time) { append(entry) }
    }

    /// Notes that an administrator or a service muted or unmuted a track.
    package mutating func append(muted: Bool, _ track: TrackSID, of participant: Identity?, at time: Int64) {
        append(RoomLogEntry(at: time, type: muted ? "track.muted" : "track.unmuted", participant: participant, track: track))
    }

    private mutating func append(_ entry: RoomLogEntry) {
        if entries.count == Self.countMax {
            entries.removeFirst()
            removed += 1
        }
        entries.append(entry)
    }

    package var view: RoomLogView { RoomLogView(events: Array(entries), removed: removed) }
}

/// An event of a room's log. `type` is that of the event that participants receive, where there is one.
package struct RoomLogEntry: Encodable, Sendable, Hashable, Described {
    /// Milliseconds since 1970.
    package var at: Int64
    package var type: String
    package var participant: Identity?
    package var kind: ParticipantKind?
    package var track: TrackSID?
    package var source: TrackSource?
    package var reason: String?

    package static let schema = Schema.named(
        "RoomLogEntry",
        .object([
            .required("at", .count), .required("type", .text(1...64)), .optional("participant", .text), .optional("kind", .text(1...64)),
            .optional("track", .text), .optional("source", .text(1...64)), .optional("reason", .text(1...64)),
        ]))
}

extension RoomLogEntry {
    /// Nil for what was said or written.
    fileprivate init?(_ event: Room.AuditEvent, at time: Int64) {
        switch event {
        case .started: self.init(at: time, type: "room.started")
        case .finished(let reason): self.init(at: time, type: "room.finished", reason: reason.rawValue)
        case .joined(let info, _): self.init(at: time, type: "participant.joined", participant: info.identity, kind: info.kind)
        case .left(let info, _, let reason):
            self.init(at: time, type: "participant.left", participant: info.identity, kind: info.kind, reason: reason.rawValue)
        case .aborted(let info, _, let reason):
            self.init(at: time, type: "participant.aborted", participant: info.identity, kind: info.kind, reason: reason.rawValue)
        case .published(let track, _):
            self.init(at: time, type: "track.published", participant: track.participant, track: track.sid, source: track.source)
        case .unpublished(let track, _):
            self.init(at: time, type: "track.unpublished", participant: track.participant, track: track.sid, source: track.source)
        case .held(let identity, let isHeld): self.init(at: time, type: isHeld ? "call.held" : "call.resumed", participant: identity)
        case .recordingStarted: self.init(at: time, type: "recording.started")
        case .recordingStopped(_, let reason): self.init(at: time, type: "recording.stopped", reason: reason.rawValue)
        case .transcribed, .typed: return nil
        }
    }
}

/// The response of `GET /v1/rooms/:room/events`.
package struct RoomLogView: Encodable, Sendable, Described {
    /// Oldest first.
    package var events: [RoomLogEntry]
    /// The number of earlier events that are no longer kept.
    package var removed: Int

    package static let schema = Schema.named(
        "RoomLog", .object([.required("events", .array(of: RoomLogEntry.schema, atMost: RoomLog.countMax)), .required("removed", .count)]))
}
