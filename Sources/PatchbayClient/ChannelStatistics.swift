/// What a channel has counted since it was opened.
public struct ChannelStatistics: Sendable, Hashable {
    /// Of the last ping that was answered; nil before the first.
    public internal(set) var roundTrip: Duration?
    /// How often the connection was lost and found again, or renewed.
    public internal(set) var reconnects: UInt64 = 0
    /// Events that the reader of `events` was too late for.
    public internal(set) var eventsOverflowed: UInt64 = 0
    /// Messages that could not be read, events of a later version, and answers that nobody waited for any more.
    public internal(set) var messagesUnread: UInt64 = 0
}
