package import Wire

/// The right to join one room, derived from a verified token.
///
/// Only the token's room counts; room names elsewhere in the request are ignored, as in LiveKit.
package struct JoinGrant: Sendable, Hashable {
    /// 1 to 256 bytes.
    package let room: String
    package let identity: Identity
    package let permission: Permission

    package init(_ token: AccessToken) throws(GrantError) {
        guard let video = token.video else { throw .noVideoGrant }
        guard video.roomJoin, let user = token.user else { throw .joinNotAllowed }
        guard !video.room.isEmpty else { throw .noRoom }
        room = video.room
        identity = Identity(text: user)
        permission = video.permission
    }
}

/// A right to use the server API, checked against a verified token: `try AdminGrant.listRooms.check(token)`.
package enum AdminGrant: Sendable, Hashable {
    case listRooms
    /// Creating and, as in LiveKit, deleting rooms.
    case createRooms
    /// Participants, tracks and metadata of this room only.
    case administer(room: String)
    /// Recordings of all rooms.
    case record
    /// Definitions of assistants. A token that joins rooms is not accepted: clients may hold one with `roomCreate`.
    case manageAssistants
    /// Sending assistants to this room: `roomAdmin` for it, or `roomCreate`.
    case dispatch(room: String)
    /// Reading the activity in all rooms, with participants and addresses: `roomList` and `roomCreate`, the grants needed to end any
    /// room. Tokens that join rooms are not accepted.
    case operate

    package func check(_ token: AccessToken) throws(GrantError) {
        guard let video = token.video else { throw .noVideoGrant }
        switch self {
        case .listRooms:
            guard video.roomList else { throw .listRoomsNotAllowed }
        case .createRooms:
            guard video.roomCreate else { throw .createRoomsNotAllowed }
        case .administer(let room):
            guard video.roomAdmin else { throw .administrationNotAllowed }
            // Compared as bytes, because Swift's string comparison ignores how accents are composed. An empty room name never matches.
            guard !room.isEmpty, video.room.utf8.elementsEqual(room.utf8) else { throw .otherRoom }
        case .record:
            guard video.roomRecord else { throw .recordingNotAllowed }
        case .manageAssistants:
            guard video.roomCreate, !video.roomJoin else { throw .assistantsNotAllowed }
        case .dispatch(let room):
            if !video.roomCreate { try AdminGrant.administer(room: room).check(token) }
        case .operate:
            guard video.roomList, video.roomCreate, !video.roomJoin else { throw .operationsNotAllowed }
        }
    }
}

/// Why a verified token does not permit a request: HTTP 403.
package enum GrantError: Error, Hashable, Sendable, CaseIterable {
    /// No `video` claim.
    case noVideoGrant
    case joinNotAllowed
    /// The join grant names no room.
    case noRoom
    case listRoomsNotAllowed
    case createRoomsNotAllowed
    case administrationNotAllowed
    /// The grant is for another room, or for none.
    case otherRoom
    case recordingNotAllowed
    case assistantsNotAllowed
    case operationsNotAllowed
}

extension GrantError: CustomStringConvertible {
    /// One sentence for people.
    package var message: String {
        switch self {
        case .noVideoGrant: "The access token has no video grant. Mint it with one."
        case .joinNotAllowed: "The access token does not allow joining a room. Mint it with roomJoin and an identity."
        case .noRoom: "The access token names no room. Mint it with a room in its video grant."
        case .listRoomsNotAllowed: "The access token does not allow listing rooms. Mint it with roomList."
        case .createRoomsNotAllowed: "The access token does not allow creating or deleting rooms. Mint it with roomCreate."
        case .administrationNotAllowed: "The access token does not allow administering a room. Mint it with roomAdmin."
        case .otherRoom: "The access token does not allow administering this room. Mint it with this room's name."
        case .recordingNotAllowed: "The access token does not allow recording. Mint it with roomRecord."
        case .assistantsNotAllowed:
            "The access token does not allow managing assistants and speech clips. Mint it with roomCreate and without roomJoin."
        case .operationsNotAllowed:
            "The access token does not show the gateway's operations. Mint it with roomList and roomCreate, and without roomJoin."
        }
    }

    package var description: String { "missing_grant: \(message)" }
}
