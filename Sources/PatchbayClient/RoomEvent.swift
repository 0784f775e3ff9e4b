public import Wire

/// What happens in a room and to our connection with it, in order.
public enum RoomEvent: Sendable {
    /// What the gateway tells; `hello` is the first on every connection. `seq` rises by one per event of a connection.
    case gateway(Event, seq: UInt64)
    /// An event of a later version of the protocol.
    case unknown(type: String, seq: UInt64)
    /// The connection was lost; attempt number `attempt` to come back follows after `delay`.
    case reconnecting(attempt: Int, delay: Duration, because: Disconnection)
    /// We are back in the room: a `hello` came before this. Our tracks are published again, each told by `trackRepublished`.
    case reconnected
    /// A track of ours is there again after a reconnect, under another sid than before.
    case trackRepublished(LocalTrack, was: TrackSID)
    /// A track of ours could not be published again; frames sent on it go nowhere.
    case trackLost(LocalTrack, RequestFailure)
    /// It is over. Nothing follows, and the stream ends.
    case disconnected(Disconnection)
}
