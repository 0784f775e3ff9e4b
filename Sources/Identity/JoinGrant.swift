package import Wire

/// The right to join one room, taken from a verified token.
///
/// The token's room is the only one: a room that the request names elsewhere is not looked at, as in LiveKit.
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
