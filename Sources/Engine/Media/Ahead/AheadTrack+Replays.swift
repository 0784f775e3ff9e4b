package import Wire

/// What a shard gets that begins to listen to a track of another one: a mark, and then what has been published and not played.
///
/// Who stops options and listens again at once is sent two replays, and both may be on their way when it looks. The first is no part
/// of what the second begins with, so a mark bears the number of the `listen` that it answers.
extension AheadTrack {
    /// A shard that is to get a replay, and the number of its `listen`.
    package struct PendingReplay: Sendable, Hashable {
        package let shard: UInt16
        package let number: UInt32

        package init(shard: UInt16, number: UInt32) {
            self.shard = shard
            self.number = number
        }
    }

    /// A header without a packet, which is no frame.
    package func marker(ofReplay number: UInt32) -> FrameHeader {
        FrameHeader(
            alias: alias, sequence: SequenceNumber(0), level: AudioLevelByte(rawValue: 0), epoch: epoch, timestamp: MediaTime(ticks: number)
        )
    }

    /// From what plays next, or from where its subscriber wants to go on.
    package func replay(from: MediaTime?, at now: Instant, _ body: (UnsafeRawBufferPointer) -> Void) {
        let next = offsetOfNextToPlay(at: now)
        queue.forEachFrame(in: (from.flatMap { offset(ofFrameAt: $0, before: next) } ?? next)..<queue.end, body)
    }

    package mutating func deferReplay(_ replay: PendingReplay) {
        pendingReplays.append(replay)
    }

    /// The shard has stopped options before it got what it was owed.
    package mutating func cancelReplay(to shard: UInt16) {
        pendingReplays.removeAll { $0.shard == shard }
    }

    package mutating func takePendingReplays() -> [PendingReplay] {
        defer { pendingReplays.removeAll() }
        return pendingReplays
    }

    /// Whether something that came from the publisher's shard is a frame to be taken here. A mark never is, nor is what comes before the
    /// one that is awaited, nor what the publisher's last shard has sent too late.
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
