package import Wire

/// One published track on one shard: which frames it admits, and its subscribers here.
package struct Patch: Sendable {
    package let track: TrackSID
    package let alias: TrackAlias
    package var gate = Room.Gate.open
    package private(set) var epoch: UInt8
    /// Index of its queue among the shard's `ahead` tracks; nil if it is live.
    package let aheadIndex: Int?
    /// Slots of the subscribers on this shard, in subscription order.
    package private(set) var subscribers: [UInt32] = [] {
        didSet { soleSubscriber = subscribers.count == 1 ? subscribers[0] : nil }
    }
    /// The only subscriber, if there is exactly one: avoids reading the array in calls of two.
    private var soleSubscriber: UInt32?
    /// Other shards with subscribers.
    package private(set) var trunks: [Trunk] = [] {
        didSet { updateTargets() }
    }
    /// Index of the recording tap in a list of the shell; nil if it is not recorded.
    package var tap: Int? {
        didSet { updateTargets() }
    }
    /// Index among the tracks whose latest frames are kept for an agent; nil if no agent is on its way.
    package var kept: Int? {
        didSet { updateTargets() }
    }
    /// Whether frames have targets besides the subscribers here: one branch per frame for all of them.
    private var hasOtherTargets = false
    package var meter: TrackMeter
    private var bucket: TokenBucket

    /// Another shard, and its number of subscribers.
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

    /// A quarter above continuous speech, for clock drift, and at least the usual limit.
    private static func framesPerSecondMax(frameMilliseconds: Double) -> Int {
        max(ProtocolLimits.liveFramesPerSecond, Int(1_250 / frameMilliseconds))
    }

    /// Whether to admit a frame; the caller counts drops. The rate of `ahead` tracks is limited by their queue.
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
        if let reason = admit(header, at: now) { return .dropped(reason) }
        if let aheadIndex { return .ahead(patch: index, queue: aheadIndex, hasOtherTargets: !trunks.isEmpty) }
        return .live(
            patch: index, sole: soleSubscriber, edge: meter.record(header, at: now), hasOtherTargets: hasOtherTargets)
    }

    private mutating func updateTargets() {
        hasOtherTargets = tap != nil || kept != nil || !trunks.isEmpty
    }

    /// Admits only frames of `epoch` from now on. The caller ends the current talkspurt.
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

    /// Adds a subscriber on another shard.
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

    /// Removes a subscriber on another shard.
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
