public import Wire

/// What happens in a room and to our connection with it, in order.
public enum RoomEvent: Sendable {
    /// What the gateway tells; `hello` is the first on every connection that does not take our old place back. `seq` rises by one per
    /// event, from one on with each fresh join.
    case gateway(Event, seq: UInt64)
    /// An event of a later version of the protocol.
    case unknown(type: String, seq: UInt64)
    /// The connection was lost; attempt number `attempt` to come back follows after `delay`.
    case reconnecting(attempt: Int, delay: Duration, because: Disconnection)
    /// We are back in the room: a `hello` came before this. If its `resumed` is true we are in our old place: what happened meanwhile
    /// came before it, each event once, and our tracks go on. Otherwise all is fresh, and our tracks are published again, each told by
    /// `trackRepublished`.
    case reconnected
    /// A track of ours is there again after a reconnect, under another sid than before.
    case trackRepublished(LocalTrack, was: TrackSID)
    /// A track of ours could not be published again, or was taken away while we were; frames sent on it go nowhere.
    case trackLost(LocalTrack, RequestFailure)
    /// It is over. Nothing follows, and the stream ends.
    case disconnected(Disconnection)

    /// The tracks of others that one learns of by this event: those that were there when we came (or came back), or one that was
    /// published since. After a reconnect, tracks that one knew already are among them.
    public var newTracks: [TrackInfo] {
        switch self {
        case .gateway(.hello(let hello), _): hello.participants.flatMap { $0.tracks ?? [] }
        case .gateway(.participantJoined(let participant), _): participant.tracks ?? []
        case .gateway(.trackPublished(let track), _): [track]
        default: []
        }
    }
}
