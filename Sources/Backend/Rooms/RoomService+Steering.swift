internal import Engine
internal import HTTPTypes
internal import HTTPServer
package import Wire

/// Rooms, as other parts of the program see and steer them. A gateway that has stopped answers that there is nothing.
extension RoomService {
    /// A room that is open now.
    package struct OpenRoom: Sendable, Hashable {
        package var name: String
        package var sid: RoomSID
        /// Seconds since 1970.
        package var createdAt: Int64
        package var participants: [ParticipantInfo]

        package init(name: String, sid: RoomSID, createdAt: Int64, participants: [ParticipantInfo]) {
            self.name = name
            self.sid = sid
            self.createdAt = createdAt
            self.participants = participants
        }
    }

    /// Needs no answer from the room's shard: asked at once after somebody's last step out of it, it may still say yes.
    package func roomIsOpen(named name: String) -> Bool { shards.homeShard(name) != nil }

    /// All rooms of all shards, in the order in which they were made. Each shard answers for its own moment.
    package func openRooms() async -> [OpenRoom] {
        let rooms = await askAll(.openRooms).flatMap { answer -> [OpenRoom] in
            if case .openRooms(let rooms) = answer { rooms } else { [] }
        }
        return rooms.sorted { ($0.createdAt, $0.name) < ($1.createdAt, $1.name) }
    }

    /// Ends a room with everybody who is in it; they get `bye` with that reason, and 4102.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    package func closeRoom(named name: String, reason: DisconnectReason = .roomDeleted) async -> Bool {
        await command(.close(reason), room: name)
    }

    /// - Returns: whether it was there.
    @discardableResult
    package func removeParticipant(_ identity: Identity, fromRoom name: String) async -> Bool {
        await command(.remove(identity), room: name)
    }

    /// Sends data into a room that comes from nobody in it. What reads as text goes to nobody who may not be shown any.
    ///
    /// - Parameter identities: those meant; nil is everybody.
    /// - Returns: whether there is such a room.
    @discardableResult
    package func send(
        _ payload: DataPayload, topic: String, toRoom name: String, identities: [Identity]? = nil
    ) async -> Bool {
        await command(.sendData(DataMessage(topic: topic, payload: payload, to: identities)), room: name)
    }

    /// Records the room's tracks from now on; everybody in it is told.
    ///
    /// - Returns: false if there is no such room, or nothing to write recordings with.
    @discardableResult
    package func startRecording(ofRoom name: String) async -> Bool {
        await command(.startRecording, room: name)
    }

    @discardableResult
    package func stopRecording(ofRoom name: String) async -> Bool {
        await command(.stopRecording(nil, .asked), room: name)
    }

    private func command(_ command: Room.AdminCommand, room name: String) async -> Bool {
        do throws(HTTPError) {
            try await perform(command, in: name)
            return true
        } catch {
            return false
        }
    }
}
