internal import Backend
internal import Engine
internal import HTTPServer
internal import Identity
internal import Sockets
internal import Wire

/// What comes through a shard's door.
enum ShardMessage: Sendable {
    // From the gateway.
    case drain(deadline: Duration, wallClock: Int64)
    /// Nil leaves the keys as they are.
    case reload(KeyRing?, TLSFiles)

    /// That shard has nobody any more.
    case emptied(shard: Int)

    // To a room's home, from the shard that serves the participant's socket.
    case joined(ParticipantHandle, JoinTicket)
    case input(Room.Input, of: ParticipantHandle)
    /// Answered by `slotIsFree`: until then nothing may take the slot, for frames and events may be on their way to it.
    case left(ParticipantHandle, DisconnectReason)

    // From a room's home.
    case deliver(EncodedEvent, to: [ParticipantHandle])
    /// One that is to be done where the participant's socket is, or the track's frames.
    case effect(Room.Effect)
    case slotIsFree(ParticipantHandle)

    /// From the shard of a lost socket to that of the one in its stead; nil if there is nothing any more to go on from.
    case takeOver(ParticipantHandle, SessionHandover?)
    /// The queue of an `ahead` track that is published there from now on; before `takeOver`.
    case takeAhead(AheadTrack)

    /// From services: HTTP, calls.
    case request(ShardRequest)
    /// To where the request came.
    case respond(RoutedResponse, number: Int)
}
