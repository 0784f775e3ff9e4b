internal import Wire

/// Protobuf's JSON, as LiveKit sends it: camel case, what has its default is left out, 64-bit integers as strings, enums by name.
extension WebhookEvent: Encodable {
    /// The body, byte for byte as it is signed and sent.
    package var body: [UInt8] {
        // Encoding throws for infinite numbers only, and there are none.
        (try? JSON.encode(self, names: .asDeclared)) ?? []
    }

    /// What stands before an event's identifier in its body.
    package static let idPrefix = "EV_"

    private enum Key: CodingKey {
        case event, room, participant, id, createdAt, track, session, summary, call
    }

    package func encode(to encoder: any Encoder) throws {
        var event = encoder.container(keyedBy: Key.self)
        try event.encode(name, forKey: .event)
        switch fact {
        case .roomStarted(let room), .roomFinished(let room):
            try event.encode(RoomMessage(room), forKey: .room)
        case .participantJoined(let room, let participant):
            try event.encode(RoomMessage(room), forKey: .room)
            try event.encode(ParticipantMessage(participant), forKey: .participant)
        case .participantLeft(let room, let participant, let reason), .participantConnectionAborted(let room, let participant, let reason):
            try event.encode(RoomMessage(room), forKey: .room)
            try event.encode(ParticipantMessage(participant, left: reason), forKey: .participant)
        case .trackPublished(let room, let participant, let track), .trackUnpublished(let room, let participant, let track):
            try event.encode(["sid": room.info.sid.text, "name": room.info.name], forKey: .room)
            try event.encode(["sid": participant.text, "identity": track.participant.text], forKey: .participant)
            try event.encode(TrackMessage(track), forKey: .track)
        case .sessionEnded(let session):
            try event.encode(SessionMessage(session: session), forKey: .session)
        case .summaryReady(let session, let summary):
            try event.encode(SessionMessage(session: session), forKey: .session)
            try event.encode(["id": summary.text, "sessionId": session.id.text], forKey: .summary)
        case .call(let call):
            try event.encode(CallMessage(call: call), forKey: .call)
        }
        try event.encode(Self.idPrefix + id.text, forKey: .id)
        // Euclid's division: a time before 1970 is in the second that it is in.
        let seconds = createdAt.milliseconds >= 0 ? createdAt.milliseconds / 1_000 : (createdAt.milliseconds - 999) / 1_000
        try event.encode(String(seconds), forKey: .createdAt)
    }
}
