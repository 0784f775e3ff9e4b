package import Wire

/// One published track on one shard: what its frames must be like, and who listens here.
package struct Patch: Sendable {
    package let track: TrackSID
    package let alias: TrackAlias
    package var gate = Room.Gate.open
    package private(set) var epoch: UInt8
    /// Where its queue is among the shard's `ahead` tracks; nil if it is live.
    package let aheadIndex: Int?
    /// Slots of the subscribers on this shard, in the order in which they came.
    package private(set) var subscribers: [UInt32] = [] {
        didSet { soleSubscriber = subscribers.count == 1 ? subscribers[0] : nil }
    }
    /// The one of them if there is one: in a call of two no frame looks into a list.
    private var soleSubscriber: UInt32?
    /// Other shards that have subscribers.
    package private(set) var trunks: [Trunk] = []
    /// Where its frames are copied to for a recording, in a list of the shell's; nil if it is not recorded.
    package var tap: Int?
    package var meter: TrackMeter
    private var bucket: TokenBucket

    /// Another shard, and how many listen there.
    package struct Trunk: Sendable {
        package let shard: UInt16
        fileprivate(set) var subscribers: Int
    }

    package init(_ track: TrackInfo, aheadIndex: Int? = nil) {
        self.track = track.sid
        alias = track.alias
        epoch = track.epoch
        self.aheadIndex = aheadIndex
        meter = TrackMeter(frameMilliseconds: track.frameMs)
        bucket = TokenBucket(perSecond: Self.framesPerSecondMax(frameMilliseconds: track.frameMs), burst: ProtocolLimits.liveBurst)
        gate = track.muted ? .muted : .open
    }

    /// A quarter more than continuous speech in frames of that length is, for clocks that differ, and never less than the usual limit.
    private static func framesPerSecondMax(frameMilliseconds: Double) -> Int {
        max(ProtocolLimits.liveFramesPerSecond, Int(1_250 / frameMilliseconds))
    }

    /// Whether a frame may pass; what it must not be is counted by the caller. How many there may be of an `ahead` track is its queue's to
    /// say.
    package mutating func admit(_ header: FrameHeader, at now: Instant) -> DropReason? {
        switch gate {
        case .open: break
        case .muted: return .muted
        case .held: return .held
        }
        guard header.epoch == epoch else { return .epoch }
        guard bucket.take(at: now) || aheadIndex != nil else { return .rate }
        return nil
    }

    /// See `PatchPanel.route`.
    mutating func route(_ header: FrameHeader, at now: Instant, as index: Int) -> PatchPanel.Route {
        if let refusal = admit(header, at: now) { return .dropped(refusal) }
        if let aheadIndex { return .ahead(patch: index, queue: aheadIndex, hasOtherTargets: !trunks.isEmpty) }
        return .live(
            patch: index, sole: soleSubscriber, edge: meter.note(header, at: now), hasOtherTargets: tap != nil || !trunks.isEmpty)
    }

    /// From now on only frames of that epoch pass. The talkspurt that was under way is ended by whoever clears.
    package mutating func clear(epoch: UInt8) {
        self.epoch = epoch
        meter.interrupt()
    }

    package mutating func add(subscriber slot: UInt32) {
        guard !subscribers.contains(slot) else { return }
        subscribers.append(slot)
    }

    package mutating func remove(subscriber slot: UInt32) {
        subscribers.removeAll { $0 == slot }
    }

    /// One more listens on that shard.
    ///
    /// - Returns: whether it is the first there.
    @discardableResult
    package mutating func add(trunk shard: UInt16) -> Bool {
        if let index = trunks.firstIndex(where: { $0.shard == shard }) {
            trunks[index].subscribers += 1
            return false
        }
        trunks.append(Trunk(shard: shard, subscribers: 1))
        return true
    }

    /// One less listens on that shard.
    ///
    /// - Returns: whether it was the last there.
    @discardableResult
    package mutating func remove(trunk shard: UInt16) -> Bool {
        guard let index = trunks.firstIndex(where: { $0.shard == shard }) else { return false }
        trunks[index].subscribers -= 1
        guard trunks[index].subscribers == 0 else { return false }
        trunks.remove(at: index)
        return true
    }
}
