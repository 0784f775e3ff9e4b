/// How much a stream holds for a reader that does not keep up. Beyond it the oldest goes, and is counted in `RoomStatistics` or `ChannelStatistics`.
public enum StreamLimits {
    /// Events of one room, or of one user's calls.
    public static let eventsMax = 1_024
    /// Frames of one track in one stream: 10 s at 20 ms a frame.
    public static let framesMax = 512
    /// Frames of a track that nobody has asked for yet, kept for the first who asks: 2 s at 20 ms a frame.
    ///
    /// If nobody asks in that time they are all dropped, and nothing more is kept.
    public static let unclaimedFramesMax = 100
    /// Requests of one room or channel that may wait for their answers at once.
    public static let requestsMax = 1_024
    /// Calls of one room's procedures that may be at work at once.
    public static let procedureCallsMax = 100
}
