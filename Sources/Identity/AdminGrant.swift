/// A right of the server API, to be checked against a verified token: `try AdminGrant.listRooms.check(token)`.
package enum AdminGrant: Sendable, Hashable {
    case listRooms
    /// Create and, as in LiveKit, delete.
    case createRooms
    /// Participants, tracks and metadata of this room and no other.
    case administer(room: String)

    package func check(_ token: AccessToken) throws(GrantError) {
        guard let video = token.video else { throw .noVideoGrant }
        switch self {
        case .listRooms:
            guard video.roomList else { throw .listRoomsNotAllowed }
        case .createRooms:
            guard video.roomCreate else { throw .createRoomsNotAllowed }
        case .administer(let room):
            guard video.roomAdmin else { throw .administrationNotAllowed }
            // By bytes: Swift calls texts equal that differ in how their accents are composed. And "no room" is none to administer.
            guard !room.isEmpty, video.room.utf8.elementsEqual(room.utf8) else { throw .otherRoom }
        }
    }
}
