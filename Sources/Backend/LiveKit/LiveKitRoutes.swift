package import HTTPServer
internal import Wire

/// `/twirp/livekit.*`: LiveKit's server API, a thin mapping onto the services that the gateway's own routes use
/// (docs/protocol/livekit-api.md).
package enum LiveKitRoutes {
    package static func routes(_ rooms: RoomService, _ dispatch: DispatchService, _ recordings: RoomRecordings?, keys: KeysInUse) -> [Route]
    {
        let service = TwirpService(name: "RoomService", keys: keys)
        return RoomServiceMethods(rooms: rooms, service: service).routes
            + ParticipantMethods(rooms: rooms, service: service).routes
            + DataMethods(rooms: rooms, service: service).routes
            + AgentDispatchMethods(dispatch: dispatch, service: TwirpService(name: "AgentDispatchService", keys: keys)).routes
            + EgressMethods(rooms: rooms, recordings: recordings, service: TwirpService(name: "Egress", keys: keys)).routes
    }
}
