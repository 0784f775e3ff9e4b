package import Wire

/// Replay to a shard that subscribes: a marker, then the published frames that have not played.
///
/// Unsubscribing and subscribing at once leads to two replays, both of which may be under way. The marker carries the subscription
/// number, so that the first one is not taken for part of the second.
extension AheadTrack {
    /// A shard that awaits a replay, and the number of its subscription.
    package struct PendingReplay: Sendable, Hashable {
        package let shard: UInt16
        package let number: UInt32

        package init(shard: UInt16, number: UInt32) {
            self.shard = shard
            self.number = number
        }
    }

    /// A header without payload, which is no valid frame.
    package func marker(ofReplay number: UInt32) -> FrameHeader {
        FrameHeader(
            alias: alias, sequence: SequenceNumber(0), level: AudioLevelByte(rawValue: 0), epoch: epoch, timestamp: MediaTime(ticks: number)
        )
    }

    /// Replays from the next frame to play, or from the position at which the subscriber continues.
    package func replay(from: MediaTime?, at now: Instant, _ body: (UnsafeRawBufferPointer) -> Void) {
        let next = offsetOfNextToPlay(at: now)
        queue.forEachFrame(in: (from.flatMap { offset(ofFrameAt: $0, before: next) } ?? next)..<queue.end, body)
    }

    package mutating func deferReplay(_ replay: PendingReplay) {
        pendingReplays.append(replay)
    }

    /// The shard unsubscribed before its replay was sent.
    package mutating func cancelReplay(to shard: UInt16) {
        pendingReplays.removeAll { $0.shard == shard }
    }

    package mutating func takePendingReplays() -> [PendingReplay] {
        defer { pendingReplays.removeAll() }
        return pendingReplays
    }

    /// Whether to accept a frame from the publisher's shard. Rejects markers, frames before the awaited marker, and late frames of
    /// the publisher's former shard.
    package mutating func accepts(
        _ frame: UnsafeRawBufferPointer, _ header: FrameHeader, from sender: ParticipantHandle
    ) -> Bool {
        guard frame.count > ProtocolLimits.frameHeaderBytes else {
            if header.timestamp.ticks == awaitedReplay { awaitedReplay = nil }
            return false
        }
        guard awaitedReplay == nil else { return false }
        return sender == publisher || newestTime.map { header.timestamp.distance(from: $0) > 0 } ?? true
    }
}

/// Moving a track whose publisher resumes on another shard (docs/protocol/resuming.md, "Resuming").
extension AheadTrack {
    /// The state for the publisher's new shard; only subscribers remain here.
    package mutating func handOver() -> AheadTrack {
        var copy = self
        copy.subscribers = []
        copy.subscriptions = 0
        (copy.isActive, copy.isFresh) = (false, false)
        sid = nil
        reports = []
        waitingFrames = 0
        pendingReplays = []
        return copy
    }

    /// The track is published on this shard from now on.
    package mutating func becomeReference(_ sid: TrackSID) {
        self.sid = sid
        awaitedReplay = nil
        // The frames released so far were metered on the old shard.
        metered = reference.offset
    }

    /// Continues with the state from the publisher's old shard. A queue with subscribers here has the same frames with its own
    /// offsets and adopts only the reporting state, unless it awaits a replay.
    ///
    /// - Returns: whether it adopted the queue, so that frames under way from the old shard are contained in it.
    @discardableResult
    package mutating func takeOver(_ other: AheadTrack) -> Bool {
        let awaitsReplay = other.pendingReplays.contains { $0.shard == publisher.shard }
        guard subscribers.isEmpty || awaitsReplay else {
            (backlog, hasReportedDrained, publishedEnd, reports) = (
                other.backlog, other.hasReportedDrained, other.publishedEnd, other.reports
            )
            pendingReplays += other.pendingReplays
            metered = reference.offset
            return false
        }
        let current = self
        self = other
        (subscriptions, isActive, isFresh) = (current.subscriptions, current.isActive, current.isFresh)
        formerPublisher = current.formerPublisher
        cancelReplay(to: publisher.shard)
        subscribers = current.subscribers.map { Subscriber(slot: $0.slot, cursor: reference) }
        return true
    }
}
