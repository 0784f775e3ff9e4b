internal import Wire

/// Audio of the assistant's track that was lost with a connection, or with the node that had it in its queue. A pure value.
struct VoiceLosses: Sendable {
    /// Why the gateway clears the tracks of a room that continues on another node (docs/protocol/resuming.md).
    private static let reasons: Set = ["node_lost", "moved"]

    private var framesUnsent: UInt64 = 0
    private var isQueueLost = false
    private var playedEnd: MediaTime?

    /// The track was cleared.
    mutating func note(_ cleared: ClearedPlayout, by who: Identity) {
        guard who.text.isEmpty, cleared.reason.map(Self.reasons.contains) ?? false else { return }
        (isQueueLost, playedEnd) = (true, cleared.heard.playedTs.map { MediaTime(ticks: $0) })
    }

    /// Connected again.
    ///
    /// - Parameter framesUnsent: since the room was joined.
    /// - Returns: what was lost and has to be repeated.
    mutating func take(isResumed: Bool, framesUnsent: UInt64) -> AgentRoomEvent? {
        defer { (self.framesUnsent, isQueueLost) = (framesUnsent, false) }
        // Another session begins with another track.
        guard isResumed else { return nil }
        if isQueueLost { return .queueLost(playedEnd) }
        return framesUnsent > self.framesUnsent ? .resumedWithLoss : nil
    }
}
