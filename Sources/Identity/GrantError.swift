/// Why a believed token is not enough: HTTP 403.
package enum GrantError: Error, Hashable, Sendable, CaseIterable {
    /// No `video` claim.
    case noVideoGrant
    case joinNotAllowed
    /// The grant to join names no room.
    case noRoom
    case listRoomsNotAllowed
    case createRoomsNotAllowed
    case administrationNotAllowed
    /// Administrator of another room, or of none.
    case otherRoom
}

extension GrantError: CustomStringConvertible {
    /// A stable name for programs. The same for all: what is missing is for people.
    package var code: String { "missing_grant" }

    package var httpStatus: Int { 403 }

    /// One sentence for people.
    package var message: String {
        switch self {
        case .noVideoGrant: "The access token has no video grant."
        case .joinNotAllowed: "The access token does not allow to join a room."
        case .noRoom: "The access token names no room."
        case .listRoomsNotAllowed: "The access token does not allow to list rooms."
        case .createRoomsNotAllowed: "The access token does not allow to create or delete rooms."
        case .administrationNotAllowed: "The access token does not allow to administer a room."
        case .otherRoom: "The access token does not allow to administer this room."
        }
    }

    package var description: String { "\(code): \(message)" }
}
