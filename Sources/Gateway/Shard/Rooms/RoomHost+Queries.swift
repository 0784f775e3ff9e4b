internal import Backend
internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Wire

/// Queries and administrative commands of HTTP handlers and services (`RoomService`).
extension RoomHost {
    func answer(_ query: RoomQuery) -> RoomQueryResult {
        do throws(HTTPError) {
            switch query {
            case .rooms: return .rooms(table.open.map { RoomListEntry($0.room, homePort: homePort) })
            case .openRooms:
                return .openRooms(
                    table.open.map(\.room).map {
                        RoomService.OpenRoom(
                            name: $0.info.name, sid: $0.info.sid, createdAt: $0.info.createdAt, participants: $0.participants)
                    })
            case .counters: return .done
            case .room(let name): return .room(RoomView(try hostedRoom(name).hosted.room, homePort: homePort))
            case .log(let name): return .log(try hostedRoom(name).hosted.log.view)
            case .command(let command, let name):
                let (index, hosted) = try hostedRoom(name)
                try check(command, in: hosted.room)
                note(command, in: hosted)
                perform(.administered(command), in: index)
                return .done
            }
        } catch {
            return .error(error)
        }
    }

    private var homePort: Int? {
        let ports = context.gateway.shardPorts
        return ports.isEmpty ? nil : ports[context.index]
    }

    /// Muting is no audit event, so the room's log would not show who was muted from outside.
    private func note(_ command: Room.AdminCommand, in hosted: HostedRoom) {
        guard case .mute(let track, let muted) = command else { return }
        let publisher = hosted.room.participants.first { $0.tracks?.contains { $0.sid == track } == true }
        hosted.log.append(muted: muted, track, of: publisher?.identity, at: WallClock.milliseconds)
    }

    /// Checks that what a command names exists.
    private func check(_ command: Room.AdminCommand, in room: Room) throws(HTTPError) {
        switch command {
        case .remove(let who), .giveUp(let who), .updatePermission(let who, _), .hold(let who, _), .muteParticipant(let who, _):
            guard room.handle(of: who) != nil else {
                throw HTTPError(.notFound, "participant_not_found", "no participant of that identity is in the room")
            }
        case .mute(let track, _):
            guard room.participants.contains(where: { $0.tracks?.contains { $0.sid == track } == true }) else {
                throw HTTPError(.notFound, "track_not_found", "no track of that sid is in the room")
            }
        case .startRecording:
            guard context.gateway.recorder != nil else {
                throw HTTPError(.notImplemented, "not_recording", "recording is not configured on this gateway")
            }
        case .delete, .close, .updateMetadata, .sendData, .stopRecording: break
        }
    }

    private func hostedRoom(_ name: String) throws(HTTPError) -> (index: Int, hosted: HostedRoom) {
        guard let index = table.index(named: name), let hosted = table[index] else { throw RoomService.roomNotFound }
        return (index, hosted)
    }
}
