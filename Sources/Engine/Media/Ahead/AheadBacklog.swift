internal import Wire

/// Tells a publisher how far it is ahead: at 45 s, when frames are refused, and below 30 s again (PROTOCOL section 5).
struct AheadBacklog: Sendable {
    private var state = BacklogState.low
    /// Frames refused since the last word.
    private var refused = 0
    private var mayTellFullAt = Instant(nanoseconds: 0)

    /// Whether nothing is left to be told.
    var isSettled: Bool { state == .low && refused == 0 }

    mutating func refuse() { refused += 1 }

    /// - Returns: what is to be told now. That it is full at most once a second, however many frames are refused.
    mutating func look(queuedMilliseconds queued: Int, at now: Instant) -> Room.PlayoutQueueReport? {
        if refused > 0, now >= mayTellFullAt {
            mayTellFullAt = now + .seconds(1)
            return tell(.full, queued)
        }
        switch state {
        case .low where queued >= ProtocolLimits.backlogHighMilliseconds: return tell(.high, queued)
        case .high where queued < ProtocolLimits.backlogLowMilliseconds, .full where queued < ProtocolLimits.backlogLowMilliseconds:
            return tell(.low, queued)
        default: return nil
        }
    }

    private mutating func tell(_ state: BacklogState, _ queued: Int) -> Room.PlayoutQueueReport {
        defer { refused = 0 }
        self.state = state
        return .backlog(state, queuedMilliseconds: queued, dropped: refused)
    }
}
