package import Wire

/// One `ahead` track on one shard: frames published faster than they play, released by the clock (docs/protocol/media.md, "Queues and
/// pacing").
///
/// Each shard with subscribers has its own queue, fed without pacing by the publisher's shard. There the `reference`, a cursor that
/// nothing delays, determines what is reported to the room. A subscriber's cursor waits while its socket has no room, and continues
/// from there: no frame is too old. Released frames are retained for subscribers that resume, for at most 30 s, and longer for one
/// that is behind, up to a limit of bytes. Beyond it the cursor skips frames, which are counted, and the next frame carries flag
/// 0x08.
package struct AheadTrack: Sendable {
    /// Kind and count in front of the frames of a bundle.
    static let bundleHeadBytes = 2

    package internal(set) var publisher: ParticipantHandle
    /// The publisher's handle before it resumed.
    var formerPublisher: ParticipantHandle?
    package let alias: TrackAlias
    /// Nil on shards other than the publisher's, which report nothing.
    package internal(set) var sid: TrackSID?
    package private(set) var epoch: UInt8
    package private(set) var isPaused = false
    let frameTicks: Int

    var queue = AheadQueue()
    var reference: AheadCursor
    /// Offset at which the reference's clock started; earlier frames played by an earlier clock.
    var clockStart = 0
    var subscribers: [Subscriber] = []

    var backlog = AheadBacklog()
    var reports: [Room.PlayoutQueueReport] = []
    var hasReportedDrained = true
    /// End of the published audio in this epoch.
    var publishedEnd: MediaTime?
    /// When its end may be reported next, and the end that was reported last.
    var receivedReportAt = Instant(nanoseconds: 0)
    var reportedEnd: MediaTime?
    /// Offset up to which released headers were metered.
    var metered = 0
    /// Offset of the last metered frame.
    var newestMetered = 0
    /// Frames not yet released by the reference.
    package internal(set) var waitingFrames = 0
    /// Frames were dropped: the next one must carry the flag.
    private var hasGap = false
    /// Which released frames are retained.
    private var retention: Retention
    /// Offset of the newest frame.
    private var newest = 0
    private(set) var newestTime: MediaTime?

    /// Subscriptions as counted by the room, on shards other than the publisher's.
    package var subscriptions = 0
    /// Number of the subscription whose replay is still under way; earlier frames belong to an earlier one.
    package internal(set) var awaitedReplay: UInt32?
    /// Shards that subscribed during a pause and get their replay when it ends.
    package internal(set) var pendingReplays: [PendingReplay] = []

    /// Whether the shard's lists contain it.
    var isActive = false
    var isFresh = false

    enum Retention: Sendable {
        /// A subscriber may resume at any position, or none is known yet.
        case all
        /// From there.
        case from(MediaTime)
        /// No subscriber resumes.
        case recent
    }

    struct Subscriber: Sendable {
        let slot: UInt32
        var cursor: AheadCursor
        var skippedFrames = 0
    }

    /// - Parameters:
    ///   - sid: nil on a shard that is not the publisher's.
    ///   - frameMilliseconds: audio per frame, as declared by the publisher.
    ///   - replay: on shards other than the publisher's, the number of the subscription whose replay it awaits.
    package init(
        _ sid: TrackSID?, alias: TrackAlias, by publisher: ParticipantHandle, epoch: UInt8, frameMilliseconds: Double,
        awaiting replay: UInt32? = nil, at now: Instant
    ) {
        self.sid = sid
        self.alias = alias
        self.publisher = publisher
        self.epoch = epoch
        frameTicks = Int(frameMilliseconds * Double(MediaTime.ticksPerMillisecond))
        reference = AheadCursor(offset: 0, at: now)
        awaitedReplay = replay
        retention = sid == nil ? .all : .recent
    }

    /// Bytes of retained frames.
    package var storedBytes: Int { queue.end - queue.start }
    /// Bytes of unreleased frames.
    var waitingBytes: Int { queue.end - reference.offset }

    /// Retains frames from this time on for subscribers that resume; nil if none needs any.
    package mutating func retain(from time: MediaTime?) {
        retention = time.map(Retention.from) ?? .recent
    }

    /// Whether a released frame is no longer needed.
    func isExpired(_ time: MediaTime, age ticks: Int) -> Bool {
        if ticks > Limits.aheadRetainedSpan.inTicks { return true }
        guard ticks > Limits.aheadRecentSpan.inTicks else { return false }
        switch retention {
        case .all: return false
        case .from(let first): return time.advanced(by: frameTicks).distance(from: first) <= 0
        case .recent: return true
        }
    }

    // MARK: Publishing

    /// Queues a frame that its patch has admitted. The caller counts drops.
    package mutating func append(_ frame: UnsafeRawBufferPointer, _ header: FrameHeader, at now: Instant) -> DropReason? {
        guard header.epoch == epoch else { return .epoch }
        guard waitingBytes + AheadQueue.size(of: frame) <= Limits.aheadWaitingBytesMax, !isTooFarAhead(header.timestamp, at: now) else {
            recordDrop()
            return .ahead
        }
        let offset = queue.end
        queue.append(frame, afterDrop: hasGap)
        (newest, newestTime, hasGap) = (offset, header.timestamp, false)
        waitingFrames += 1
        publishedEnd = header.timestamp.advanced(by: frameTicks)
        if reference.offset == offset {
            let clockContinues = reference.take(frameAt: header.timestamp, now: now)
            if !clockContinues { receivedReportAt = max(receivedReportAt, now + Limits.aheadReceivedNotice) }
            recordAppend(clockContinues: clockContinues, header.timestamp, offset)
        }
        for index in subscribers.indices where subscribers[index].cursor.offset == offset {
            _ = subscribers[index].cursor.take(frameAt: header.timestamp, now: now)
        }
        return nil
    }

    /// Only the publisher's shard checks this: clocks elsewhere may lag.
    private func isTooFarAhead(_ time: MediaTime, at now: Instant) -> Bool {
        guard sid != nil, reference.offset < queue.end, let clock = reference.clock else { return false }
        return clock.instant(of: time) > now.advanced(byNanoseconds: Self.aheadMax)
    }

    private static let aheadMax = Int64(ProtocolLimits.aheadMilliseconds) * 1_000_000

    /// The frame appended last, as forwarded.
    package func withNewestFrame(_ body: (UnsafeRawBufferPointer) -> Void) {
        queue.forEachFrame(in: newest..<queue.end, body)
    }

    /// A frame was dropped for lack of room: the publisher is informed, and the next frame carries the flag.
    package mutating func recordDrop() {
        hasGap = true
        backlog.recordDrop()
    }

    /// Drops all frames; from now on only frames of `epoch` are accepted.
    ///
    /// - Returns: the number of unreleased frames dropped.
    package mutating func clear(epoch: UInt8, at now: Instant) -> Int {
        defer { waitingFrames = 0 }
        enqueue(.cleared(epoch: epoch, end: publishedEnd))
        self.epoch = epoch
        (publishedEnd, reportedEnd) = (nil, nil)
        hasReportedDrained = true
        hasGap = false
        queue.drop(before: queue.end)
        reference.clear(to: queue.end, at: now)
        (clockStart, metered) = (queue.end, queue.end)
        for index in subscribers.indices { subscribers[index].cursor.clear(to: queue.end, at: now) }
        return waitingFrames
    }

    /// Pauses releasing. After a pause the clock restarts with the next frame.
    package mutating func setPaused(_ paused: Bool, at now: Instant) {
        guard paused != isPaused else { return }
        isPaused = paused
        guard !paused else { return }
        if reference.offset < queue.end {
            let time = queue.entry(at: reference.offset).timestamp
            reference.startClock(at: time, now: now)
            clockStart = reference.offset
            reportStarted(at: time, hadDrained: false)
        }
        for index in subscribers.indices where subscribers[index].cursor.offset < queue.end {
            subscribers[index].cursor.startClock(at: queue.entry(at: subscribers[index].cursor.offset).timestamp, now: now)
        }
    }
}
