internal import Engine
internal import HTTPServer
internal import HTTPTypes
package import Wire

/// Queries and commands for rooms. A stopped gateway reports no rooms.
extension RoomService {
    /// An open room.
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

    /// Reads the room directory without asking the shard, so it may lag behind the last participant's departure.
    package func roomIsOpen(named name: String) -> Bool { shards.homeShard(name) != nil }

    /// All shards' rooms, oldest first. Not an atomic snapshot: each shard answers on its own.
    package func openRooms() async -> [OpenRoom] {
        let rooms = await askAll(.openRooms).flatMap { answer -> [OpenRoom] in
            if case .openRooms(let rooms) = answer { rooms } else { [] }
        }
        return rooms.sorted { ($0.createdAt, $0.name) < ($1.createdAt, $1.name) }
    }

    /// Ends a room. Its participants get `bye` with this reason and close code 4102.
    ///
    /// - Returns: whether the room existed.
    @discardableResult
    package func closeRoom(named name: String, reason: DisconnectReason = .roomDeleted) async -> Bool {
        await command(.close(reason), room: name)
    }

    /// - Returns: whether the participant was in the room.
    @discardableResult
    package func removeParticipant(_ identity: Identity, fromRoom name: String) async -> Bool {
        await command(.remove(identity), room: name)
    }

    /// Sends data into a room without a sender. Participants that must not see text do not receive textual data.
    ///
    /// - Parameter identities: the recipients; nil for all.
    /// - Returns: whether the room exists.
    @discardableResult
    package func send(
        _ payload: DataPayload, topic: String, toRoom name: String, identities: [Identity]? = nil
    ) async -> Bool {
        await command(.sendData(DataMessage(topic: topic, payload: payload, to: identities)), room: name)
    }

    /// Starts recording the room's tracks and notifies its participants.
    ///
    /// - Returns: false if the room does not exist or recording is not configured.
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
