internal import Backend
internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Wire

/// What a shard tells, and does, for who asks by HTTP (`RoomService`).
extension Shard {
    func answer(_ question: RoomQuery) -> RoomQueryResult {
        do throws(HTTPError) {
            switch question {
            case .rooms: return .rooms(rooms.compactMap { $0.map { RoomSummary($0.room, homePort: homePort) } })
            case .openRooms:
                return .openRooms(
                    rooms.compactMap { $0?.room }.map {
                        RoomService.OpenRoom(name: $0.name, sid: $0.sid, createdAt: $0.createdAt, participants: $0.participants)
                    })
            case .counters:
                publishMetrics()
                return .done
            case .room(let name): return .room(RoomDetail(try room(name).hosted.room, homePort: homePort))
            case .command(let command, let name):
                let (index, hosted) = try room(name)
                try check(command, in: hosted.room)
                perform(.administered(command), in: index)
                return .done
            }
        } catch {
            return .error(error)
        }
    }

    private var homePort: Int? { common.shardPorts.isEmpty ? nil : common.shardPorts[index] }

    /// Whether what a command names is there.
    private func check(_ command: Room.AdminCommand, in room: Room) throws(HTTPError) {
        switch command {
        case .remove(let who), .updatePermission(let who, _), .hold(let who, _), .muteParticipant(let who, _):
            guard room.handle(of: who) != nil else {
                throw HTTPError(.notFound, "participant_not_found", "no participant of that identity is in the room")
            }
        case .mute(let track, _):
            guard room.participants.contains(where: { $0.tracks?.contains { $0.sid == track } == true }) else {
                throw HTTPError(.notFound, "track_not_found", "no track of that sid is in the room")
            }
        case .startRecording:
            guard common.recorder != nil else {
                throw HTTPError(.notImplemented, "not_recording", "this gateway has nothing to write recordings with")
            }
        case .delete, .close, .updateMetadata, .sendData, .stopRecording: break
        }
    }

    private func room(_ name: String) throws(HTTPError) -> (index: Int, hosted: HostedRoom) {
        guard let index = roomByName[name], let hosted = rooms[index] else { throw RoomService.roomNotFound }
        return (index, hosted)
    }
}
