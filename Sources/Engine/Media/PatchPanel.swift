package import Wire

/// The patch panel (forwarding table) of a shard: which subscribers get which track's frames.
///
/// Rooms change it, frames only read it. Indexed by the publisher's slot, then scanned by alias: a participant has one track,
/// rarely two.
package struct PatchPanel: Sendable {
    package private(set) var patches: [[Patch]] = []
    /// By slot: whether one of its tracks may be in a talkspurt.
    private var talkers: [Bool] = []
    /// Published tracks.
    package private(set) var count = 0

    package init() {}

    /// Index of a track in `patches[slot]`; nil if the sender has none of that alias.
    ///
    /// Mutating, to access the table in place.
    package mutating func index(of alias: TrackAlias, publishedBy slot: Int) -> Int? {
        guard slot < patches.count else { return nil }
        var index = 0
        while index < patches[slot].count {
            if patches[slot][index].alias == alias { return index }
            index += 1
        }
        return nil
    }

    /// Accesses one patch in place.
    package mutating func update<R>(_ index: Int, publishedBy slot: Int, _ body: (inout Patch) -> R) -> R {
        body(&patches[slot][index])
    }

    /// The destinations of a frame.
    package enum Route: Sendable, Hashable {
        case dropped(DropReason)
        /// To the queue at that index, which releases it by the clock, and if `hasOtherTargets` to other shards.
        case ahead(patch: Int, queue: Int, hasOtherTargets: Bool)
        /// To the subscribers here, usually a `sole` one, and if `hasOtherTargets` to a recording, to other shards, or into the ring of kept
        /// frames.
        case live(patch: Int, sole: UInt32?, edge: TrackMeter.Edge?, hasOtherTargets: Bool)
    }

    /// Routes a frame with a single in-place access to its patch: separate accesses would cost reference counting.
    package mutating func route(_ header: FrameHeader, publishedBy slot: Int, at now: Instant) -> Route {
        guard let patch = index(of: header.alias, publishedBy: slot) else { return .dropped(.notPublished) }
        let route = patches[slot][patch].route(header, at: now, as: patch)
        if case .live(_, _, .some, _) = route { talkers[slot] = true }
        return route
    }

    /// Meters a frame of an `ahead` track that is released now.
    package mutating func meter(_ header: FrameHeader, of index: Int, publishedBy slot: Int, at now: Instant) -> TrackMeter.Edge? {
        guard let edge = patches[slot][index].meter.record(header, at: now) else { return nil }
        talkers[slot] = true
        return edge
    }

    /// Ends talkspurts of a slot's tracks that received no more frames, or only silence.
    package mutating func endTalk(of slot: Int, at now: Instant) -> [(track: TrackSID, edge: TrackMeter.Edge)] {
        guard talkers[slot] else { return [] }
        talkers[slot] = false
        var ended: [(track: TrackSID, edge: TrackMeter.Edge)] = []
        for index in patches[slot].indices {
            if let edge = patches[slot][index].meter.tick(at: now) { ended.append((patches[slot][index].track, edge)) }
            if patches[slot][index].meter.isTalking { talkers[slot] = true }
        }
        return ended
    }

    /// Appends the measurements of a slot's tracks since the last call.
    package mutating func takeMeasurements(of slot: Int, into measurements: inout [TrackMeasurement]) {
        guard slot < patches.count else { return }
        for index in patches[slot].indices {
            let track = patches[slot][index].track
            if let found = patches[slot][index].meter.takeMeasurement(of: track, window: Limits.speakerInterval) {
                measurements.append(found)
            }
        }
    }

    /// - Parameter aheadIndex: index of the queue of an `ahead` track.
    package mutating func publish(_ track: TrackInfo, by slot: Int, aheadIndex: Int? = nil) {
        makeRoom(for: slot)
        patches[slot].append(Patch(track, aheadIndex: aheadIndex))
        count += 1
    }

    package mutating func unpublish(_ alias: TrackAlias, by slot: Int) {
        guard let index = index(of: alias, publishedBy: slot) else { return }
        patches[slot].remove(at: index)
        count -= 1
    }

    /// Moves a track to another slot of this shard. Its meter restarts.
    package mutating func move(_ alias: TrackAlias, from old: Int, to new: Int) {
        guard let index = index(of: alias, publishedBy: old) else { return }
        var patch = patches[old].remove(at: index)
        patch.meter.interrupt()
        makeRoom(for: new)
        patches[new].append(patch)
    }

    package mutating func setGate(_ gate: Room.Gate, of alias: TrackAlias, by slot: Int) {
        guard let index = index(of: alias, publishedBy: slot) else { return }
        patches[slot][index].gate = gate
        if gate != .open { patches[slot][index].meter.interrupt() }
    }

    package mutating func setTap(_ tap: Int?, of alias: TrackAlias, by slot: Int) {
        if let index = index(of: alias, publishedBy: slot) { patches[slot][index].tap = tap }
    }

    package mutating func setKept(_ kept: Int?, of alias: TrackAlias, by slot: Int) {
        if let index = index(of: alias, publishedBy: slot) { patches[slot][index].kept = kept }
    }

    /// The frames of that index are not kept any more. Linear in patches.
    package mutating func forgetKept(_ kept: Int) {
        for slot in patches.indices {
            for index in patches[slot].indices where patches[slot][index].kept == kept { patches[slot][index].kept = nil }
        }
    }

    package mutating func clear(_ alias: TrackAlias, by slot: Int, epoch: UInt8) {
        guard let index = index(of: alias, publishedBy: slot) else { return }
        patches[slot][index].clear(epoch: epoch)
    }

    package mutating func add(subscriber: UInt32, to alias: TrackAlias, of slot: Int) {
        guard let index = index(of: alias, publishedBy: slot) else { return }
        patches[slot][index].add(subscriber: subscriber)
    }

    package mutating func remove(subscriber: UInt32, from alias: TrackAlias, of slot: Int) {
        guard let index = index(of: alias, publishedBy: slot) else { return }
        patches[slot][index].remove(subscriber: subscriber)
    }

    /// - Returns: whether it is the first subscriber on that shard.
    @discardableResult
    package mutating func add(trunk shard: UInt16, to alias: TrackAlias, of slot: Int) -> Bool {
        guard let index = index(of: alias, publishedBy: slot) else { return false }
        return patches[slot][index].add(trunk: shard)
    }

    /// - Returns: whether it was the last subscriber on that shard.
    @discardableResult
    package mutating func remove(trunk shard: UInt16, from alias: TrackAlias, of slot: Int) -> Bool {
        guard let index = index(of: alias, publishedBy: slot) else { return false }
        return patches[slot][index].remove(trunk: shard)
    }

    private mutating func makeRoom(for slot: Int) {
        while patches.count <= slot {
            patches.append([])
            talkers.append(false)
        }
    }
}
