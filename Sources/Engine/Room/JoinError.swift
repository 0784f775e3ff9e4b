/// Why somebody with a valid token cannot come in.
package enum JoinError: Sendable, Hashable {
    /// As many participants as `maxParticipants` allows are there (HTTP 409, close code 4105).
    case roomFull
    /// The room has ended and only waits to be forgotten: make a new one.
    case roomClosed
}
