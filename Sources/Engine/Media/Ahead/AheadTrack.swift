package import Wire

/// One track of mode `ahead` on one shard (PROTOCOL section 5): what was published faster than it plays, let out by the clock.
///
/// Each shard with subscribers has its own, fed unpaced by the publisher's. There it is there in any case: its `reference`, a cursor
/// that nothing holds up, is what is told to the room. A subscriber's cursor stays where it is while its socket has no room, and goes on from
/// there, for nothing is too old here. What was let out is kept as far as subscribers that resume may want it, 30 s at most, and longer for one that is behind, up to
/// a limit of bytes; beyond that a cursor is moved up, the frames are counted and the next one carries 0x08.
///
/// Its parts: `+Subscribers`, `+Replays`, `+Moving`, `+Output`, `+Facts`.
package struct AheadTrack: Sendable {
    /// Kind and count before the frames of a bundle.
    static let bundleHeadBytes = 2

    package internal(set) var publisher: ParticipantHandle
    /// Its handle before it came back.
    var formerPublisher: ParticipantHandle?
    package let alias: TrackAlias
    /// Nil where the track is published on another shard: then nobody is told anything.
    package internal(set) var sid: TrackSID?
    package private(set) var epoch: UInt8
    package private(set) var isPaused = false
    let frameTicks: Int

    var queue = AheadQueue()
    var reference: AheadCursor
    /// Where the reference's clock began: what is before played by an earlier one.
    var clockStart = 0
    var subscribers: [Subscriber] = []

    var backlog = AheadBacklog()
    var facts: [Room.PlayoutQueueReport] = []
    var hasReportedDrained = true
    /// Up to where this epoch has been published.
    var publishedEnd: MediaTime?
    /// Up to where the headers of what was let out have been looked at.
    var metered = 0
    /// The last of them.
    var newestMetered = 0
    /// Frames that the reference has not let out yet.
    package internal(set) var waitingFrames = 0
    /// Frames were refused: the next one must say so.
    private var hasGap = false
    /// What was let out and is to be kept.
    private var keeping: Keeping
    /// Of the frame that came last.
    private var newest = 0
    private(set) var newestTime: MediaTime?

    /// Subscribers as their room counts them, on a shard that is not the publisher's.
    package var subscriptions = 0
    /// What is published elsewhere and already there is still on its way, for the `listen` of that number; what comes before it belongs to
    /// an earlier one.
    package internal(set) var awaitedReplay: UInt32?
    /// Shards that have begun to listen during a pause, and get what is there when it is over.
    package internal(set) var pendingReplays: [PendingReplay] = []

    /// Whether it is on the shard's lists.
    var isActive = false
    var isFresh = false

    enum Keeping: Sendable {
        /// Somebody may go on from anywhere; or so it must be taken, where nothing has been said.
        case all
        /// From there.
        case from(MediaTime)
        /// Nobody goes on but with what plays next.
        case recent
    }

    struct Subscriber: Sendable {
        let slot: UInt32
        var cursor: AheadCursor
        var skippedFrames = 0
    }

    /// - Parameters:
    ///   - sid: nil on a shard that is not the publisher's.
    ///   - frameMilliseconds: how much audio each frame holds, as its publisher says.
    ///   - replay: on another shard than the publisher's, the number of the `listen` with which it begins there.
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
        keeping = sid == nil ? .all : .recent
    }

    /// Bytes of frames that are kept.
    package var storedBytes: Int { queue.end - queue.start }
    /// Bytes of frames that nothing has let out yet.
    var waitingBytes: Int { queue.end - reference.offset }

    /// Somebody may want to go on from there after an interruption; nil is nobody.
    package mutating func retain(from time: MediaTime?) {
        keeping = time.map(Keeping.from) ?? .recent
    }

    /// Whether nobody will want it any more, a frame so old by what was let out last.
    func isForgotten(_ time: MediaTime, age ticks: Int) -> Bool {
        if ticks > Limits.aheadKeptSpan.inTicks { return true }
        guard ticks > Limits.aheadRecentSpan.inTicks else { return false }
        switch keeping {
        case .all: return false
        case .from(let first): return time.advanced(by: frameTicks).distance(from: first) <= 0
        case .recent: return true
        }
    }

    // MARK: Publishing

    /// Takes a frame that its patch lets through. What it must not be is counted by the caller.
    package mutating func append(_ frame: UnsafeRawBufferPointer, _ header: FrameHeader, at now: Instant) -> DropReason? {
        guard header.epoch == epoch else { return .epoch }
        guard waitingBytes + AheadQueue.size(of: frame) <= Limits.aheadWaitingBytesMax, !isTooFarAhead(header.timestamp, at: now) else {
            refuse()
            return .ahead
        }
        let offset = queue.end
        queue.append(frame, afterDrop: hasGap)
        (newest, newestTime, hasGap) = (offset, header.timestamp, false)
        waitingFrames += 1
        publishedEnd = header.timestamp.advanced(by: frameTicks)
        if reference.offset == offset { noteTaken(reference.take(frameAt: header.timestamp, now: now), header.timestamp, offset) }
        for index in subscribers.indices where subscribers[index].cursor.offset == offset {
            _ = subscribers[index].cursor.take(frameAt: header.timestamp, now: now)
        }
        return nil
    }

    /// Only the publisher's shard judges: elsewhere the clock may be a little behind.
    private func isTooFarAhead(_ time: MediaTime, at now: Instant) -> Bool {
        guard sid != nil, reference.offset < queue.end, let clock = reference.clock else { return false }
        return clock.instant(of: time) > now.advanced(byNanoseconds: Self.aheadMax)
    }

    private static let aheadMax = Int64(ProtocolLimits.aheadMilliseconds) * 1_000_000

    /// The frame that was just taken, as it goes on from here.
    package func withNewestFrame(_ body: (UnsafeRawBufferPointer) -> Void) {
        queue.forEachFrame(in: newest..<queue.end, body)
    }

    /// A frame went no further for want of room: the publisher is told, and the next frame says so.
    package mutating func refuse() {
        hasGap = true
        backlog.refuse()
    }

    /// Nothing that was published up to now is let out any more; from now on only frames of that epoch are taken.
    ///
    /// - Returns: how many frames are forgotten that had not been let out.
    package mutating func clear(epoch: UInt8, at now: Instant) -> Int {
        defer { waitingFrames = 0 }
        tell(.cleared(epoch: epoch, end: publishedEnd))
        self.epoch = epoch
        publishedEnd = nil
        hasReportedDrained = true
        hasGap = false
        queue.forget(before: queue.end)
        reference.clear(to: queue.end, at: now)
        (clockStart, metered) = (queue.end, queue.end)
        for index in subscribers.indices { subscribers[index].cursor.clear(to: queue.end, at: now) }
        return waitingFrames
    }

    /// Lets nothing out until it is told otherwise; then the clock starts anew with what is next.
    package mutating func setPaused(_ pauses: Bool, at now: Instant) {
        guard pauses != isPaused else { return }
        isPaused = pauses
        guard !pauses else { return }
        if reference.offset < queue.end {
            let time = queue.entry(at: reference.offset).timestamp
            reference.startClock(at: time, now: now)
            clockStart = reference.offset
            noteStarted(at: time, hadRunDry: false)
        }
        for index in subscribers.indices where subscribers[index].cursor.offset < queue.end {
            subscribers[index].cursor.startClock(at: queue.entry(at: subscribers[index].cursor.offset).timestamp, now: now)
        }
    }
}
