/// What a room's connection has done since it was joined, reconnects included. Counters only rise.
public struct RoomStatistics: Sendable, Hashable {
    /// Frames handed to the socket.
    public internal(set) var framesSent: UInt64 = 0
    /// Frames dropped because the socket took no more (oldest first), or because there was no connection or no such track.
    public internal(set) var framesUnsent: UInt64 = 0
    /// Frames that came.
    public internal(set) var framesReceived: UInt64 = 0
    /// Frames that came but were malformed, or of a track that nobody listens to.
    public internal(set) var framesUnheard: UInt64 = 0
    /// Frames missing in the numbering of those that came.
    public internal(set) var framesLost: UInt64 = 0
    /// Frames dropped because a reader of ours did not keep up.
    public internal(set) var framesOverflowed: UInt64 = 0
    public internal(set) var eventsReceived: UInt64 = 0
    /// Events dropped because nobody read them.
    public internal(set) var eventsOverflowed: UInt64 = 0
    /// Text messages that could not be read, and answers that nobody waited for.
    public internal(set) var messagesUnread: UInt64 = 0
    /// Times that the connection was lost and found again.
    public internal(set) var reconnects: UInt64 = 0
    /// From a ping to its answer, most recently; nil before the first.
    public internal(set) var roundTrip: Duration?

    public init() {}
}
