internal import Engine
internal import HTTPServer
internal import Identity
internal import LiveKitProtocol
internal import SwiftProtobuf
internal import Wire

/// LiveKit's RoomService: its methods on participants and their tracks.
struct ParticipantMethods: Sendable {
    let rooms: RoomService
    let service: TwirpService

    var routes: [Route] {
        [
            method("ListParticipants", "Lists a room's participants, hidden ones too", room: \.room, perform: listParticipants),
            method("GetParticipant", "Shows a participant", room: \.room) { (request: LiveKitRoomParticipantIdentity) in
                LiveKitParticipantInfo(try await participant(request.identity, in: request.room))
            },
            method("RemoveParticipant", "Disconnects a participant", room: \.room) { (request: LiveKitRoomParticipantIdentity) in
                try await rooms.perform(.remove(Identity(text: request.identity)), in: request.room)
                return LiveKitRemoveParticipantResponse()
            },
            method("MutePublishedTrack", "Mutes a track", room: \.room, perform: mute),
            method(
                "UpdateParticipant", "Changes a participant's name, metadata, attributes and permissions", room: \.room,
                limits: Self.checkLimits, perform: update),
            method("UpdateSubscriptions", "Subscribes a participant to tracks, or ends that", room: \.room, perform: subscribe),
        ]
            + ["ForwardParticipant", "MoveParticipant"].map { name in
                service.unimplemented(
                    name, RoomServiceMethods.administer,
                    grant: { (request: LiveKitMoveParticipantRequest) in .administer(room: request.room) },
                    Self.noMoves)
            }
    }

    private static let noMoves =
        "a participant of this gateway is in the room of its token; give its client a token for the other room"

    /// A method that needs `roomAdmin` for the room that the request names.
    private func method<Request, Response>(
        _ name: String, _ summary: String, room: @escaping @Sendable (Request) -> String,
        limits: @escaping @Sendable (Request) throws(TwirpError) -> Void = { _ throws(TwirpError) in },
        perform: @escaping @Sendable (Request) async throws -> Response
    ) -> Route where Request: Message, Response: Message {
        service.method(
            name, summary, RoomServiceMethods.administer, limits: limits, grant: { .administer(room: room($0)) },
            perform: { request, _ in try await perform(request) })
    }

    private func participant(_ identity: String, in room: String) async throws -> ParticipantInfo {
        let wanted = Identity(text: identity)
        guard let found = try await rooms.detail(of: room).participants.first(where: { $0.identity == wanted }) else {
            throw TwirpError(.notFound, "participant does not exist")
        }
        return found
    }

    /// As in LiveKit, an unknown room has no participants.
    private func listParticipants(_ request: LiveKitListParticipantsRequest) async throws -> LiveKitListParticipantsResponse {
        var response = LiveKitListParticipantsResponse()
        guard try await rooms.isOpen(request.room) else { return response }
        response.participants = try await rooms.detail(of: request.room).participants.map(LiveKitParticipantInfo.init)
        return response
    }

    /// An unknown track is no error, and the response has none.
    private func mute(_ request: LiveKitMuteRoomTrackRequest) async throws -> LiveKitMuteRoomTrackResponse {
        guard request.muted else { throw TwirpError(.failedPrecondition, "remote unmute not enabled") }
        let sid = TrackSID(text: request.trackSid)
        var response = LiveKitMuteRoomTrackResponse()
        guard var track = try await participant(request.identity, in: request.room).tracks?.first(where: { $0.sid == sid }) else {
            return response
        }
        try await rooms.perform(.mute(sid, muted: true), in: request.room)
        track.muted = true
        response.track = LiveKitTrackInfo(track)
        return response
    }

    private static func checkLimits(_ request: LiveKitUpdateParticipantRequest) throws(TwirpError) {
        try LiveKitLimits.check(name: request.name)
        try LiveKitLimits.check(metadata: request.metadata)
        try LiveKitLimits.check(attributes: request.attributes)
    }

    /// Empty texts leave a value unchanged.
    private func update(_ request: LiveKitUpdateParticipantRequest) async throws -> LiveKitParticipantInfo {
        let change = ParticipantUpdate(
            name: request.name.isEmpty ? nil : request.name, metadata: request.metadata.isEmpty ? nil : request.metadata,
            attributes: request.attributes.isEmpty ? nil : request.attributes)
        let permission = request.hasPermission ? Permission(request.permission) : nil
        try await rooms.perform(.updateParticipant(Identity(text: request.identity), change, permission), in: request.room)
        return LiveKitParticipantInfo(try await participant(request.identity, in: request.room))
    }

    private func subscribe(_ request: LiveKitUpdateSubscriptionsRequest) async throws -> LiveKitUpdateSubscriptionsResponse {
        let sids = Set(request.trackSids + request.participantTracks.flatMap(\.trackSids)).sorted()
        try await rooms.perform(
            .subscribe(Identity(text: request.identity), sids.map { TrackSID(text: $0) }, request.subscribe), in: request.room)
        return LiveKitUpdateSubscriptionsResponse()
    }
}
