public import Wire

/// An event in a room or on the connection to it, in order.
public enum RoomEvent: Sendable {
    /// An event from the gateway. `hello` is the first on every connection that does not resume a session. `seq` increases by one per event
    /// and starts at one with each fresh join. Missed events that a `hello` with `snapshot` replaces precede it with its number, as far as the
    /// client can tell what has changed: participants, tracks, mutes and the room's description.
    case gateway(Event, seq: UInt64)
    /// An event of a later version of the protocol.
    case unknown(type: String, seq: UInt64)
    /// The connection was lost; reconnect attempt number `attempt` follows after `delay`.
    case reconnecting(attempt: Int, delay: Duration, because: Disconnection)
    /// Connected again, after a `hello`. If its `resumed` is true, the session was resumed: missed events came before, each once, and local
    /// tracks continue; with `snapshot`, `trackRepublished` follows for those that the gateway no longer knows. Otherwise the room was joined
    /// again, and `trackRepublished` follows for each local track.
    case reconnected
    /// A local track was published again after a reconnect, with a new sid.
    case trackRepublished(LocalTrack, was: TrackSID)
    /// A local track could not be published again, or was removed while disconnected. Frames sent on it are dropped.
    case trackLost(LocalTrack, RequestFailure)
    /// The room has ended; so does the stream.
    case disconnected(Disconnection)

    /// The remote tracks that this event announces: those present on joining, or a newly published one. After a reconnect they may include
    /// known tracks.
    public var newTracks: [TrackInfo] {
        switch self {
        case .gateway(.hello(let hello), _): hello.participants.flatMap { $0.tracks ?? [] }
        case .gateway(.participantJoined(let participant), _): participant.tracks ?? []
        case .gateway(.trackPublished(let track), _): [track]
        default: []
        }
    }
}

/// Counters of a room connection since it was joined, across reconnects. They never decrease.
public struct RoomStatistics: Sendable, Hashable {
    /// Frames written to the socket.
    public internal(set) var framesSent: UInt64 = 0
    /// Frames dropped because the send queue was full (oldest first), or because there was no connection or no such track.
    public internal(set) var framesUnsent: UInt64 = 0
    public internal(set) var framesReceived: UInt64 = 0
    /// Frames received that were malformed, or of a track without a reader.
    public internal(set) var framesUnheard: UInt64 = 0
    /// Gaps in the sequence numbers of received frames, except those at a clear.
    public internal(set) var framesLost: UInt64 = 0
    /// Frames that were published but not received because the track was cleared (`playout.clear`): the gap in the sequence numbers before
    /// the first frame of the new epoch.
    public internal(set) var framesCleared: UInt64 = 0
    /// Frames dropped because a reader of a stream fell behind.
    public internal(set) var framesOverflowed: UInt64 = 0
    public internal(set) var eventsReceived: UInt64 = 0
    /// Events dropped because the reader of `events` fell behind.
    public internal(set) var eventsOverflowed: UInt64 = 0
    /// Text messages that could not be parsed, and replies without a pending request.
    public internal(set) var messagesUnread: UInt64 = 0
    public internal(set) var reconnects: UInt64 = 0
    /// Round-trip time of the last answered ping; nil before the first.
    public internal(set) var roundTrip: Duration?

    public init() {}
}
