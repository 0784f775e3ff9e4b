internal import Engine
internal import Sockets
internal import Wire

/// Forwards frames from publishers to subscribers: the forwarding table (`PatchPanel`) of this shard, the tracks of other shards that are
/// subscribed to here, the queues of `ahead` tracks, and the trunks.
///
/// A frame's way: `received` checks the header and asks the patch panel; a live frame goes to each subscriber through the `FrameSender`,
/// to other shards through trunks, and to a recording; a frame of an `ahead` track goes into the track's queue, which this shard's clock
/// releases (`+Ahead`). Nothing allocates, locks or counts references for a live frame that is sent at once: parts are `let`, occupants of
/// slots are borrowed, and stored state is read without dynamic exclusivity checks, for only the shard's thread uses it.
final class MediaRelay {
    let context: ShardContext
    let slots: SlotTable<ParticipantConnection>
    let sender: FrameSender
    let rooms: RoomHost
    @exclusivity(unchecked) var panel = PatchPanel()
    /// Tracks that are published on other shards.
    @exclusivity(unchecked) var remoteTracks = RemoteTracks()
    /// Tracks of mode `ahead` that are published or subscribed to here.
    @exclusivity(unchecked) var aheads = AheadTracks()
    @exclusivity(unchecked) var trunks: TrunkArrivals
    @exclusivity(unchecked) var taps = RecordingTaps()
    /// Frames of tracks that are published here, kept for agents that are on their way.
    @exclusivity(unchecked) var earlier: EarlierSpeech

    init(_ context: ShardContext, _ slots: SlotTable<ParticipantConnection>, _ sender: FrameSender, _ rooms: RoomHost) {
        self.context = context
        self.slots = slots
        self.sender = sender
        self.rooms = rooms
        trunks = TrunkArrivals(shardCount: context.gateway.mailboxes.count)
        earlier = EarlierSpeech(shardCount: context.gateway.mailboxes.count)
    }

    // MARK: From publishers

    func received(_ message: UnsafeRawBufferPointer, from connection: Connection) {
        let slot = connection.slot
        slots.withOccupant(at: UInt32(slot)) { received(message, from: $0, at: slot) }
        if aheads.hasFresh { releaseFresh() }
    }

    private func received(_ message: UnsafeRawBufferPointer, from publisher: ParticipantConnection, at slot: Int) {
        guard publisher.pendingClose == nil else { return }
        publisher.lastReceivedAt = context.now
        if message.first == FrameKind.bundle.rawValue {
            do throws(FrameError) {
                try Bundle.forEachFrame(in: message) { relay($0, from: publisher, at: slot) }
            } catch {
                countMalformed(error, from: publisher)
            }
        } else {
            relay(message, from: publisher, at: slot)
        }
    }

    private func relay(_ frame: UnsafeRawBufferPointer, from publisher: ParticipantConnection, at slot: Int) {
        context.counters.framesIn += 1
        context.counters.bytesIn += UInt64(frame.count)
        let header: FrameHeader
        do throws(FrameError) {
            header = try FrameHeader(parsing: frame)
        } catch {
            countMalformed(error, from: publisher)
            return
        }
        let now = context.now
        switch panel.route(header, publishedBy: slot, at: now) {
        case .dropped(let reason): context.countDropped(reason)
        case .ahead(let patch, let track, let hasOtherTargets):
            if let reason = aheads.append(frame, header, to: track, at: now) { return context.countDropped(reason) }
            if hasOtherTargets { sendNewestFrame(of: track, to: panel.patches[slot][patch].trunks, from: publisher.handle) }
        case .live(let patch, let sole, let edge, let hasOtherTargets):
            if header.sequence.value & Self.prefetchMask == 0 { notePrefetchHints(of: publisher, at: slot, patch) }
            if let sole {
                var staged = sender.stage(frame, of: header.alias, endsTurn: edge != nil)
                slots.withOccupant(at: sole) { sender.send(&staged, to: $0, at: now) }
            } else {
                forward(frame, of: header.alias, to: panel.patches[slot][patch].subscribers, endsTurn: edge != nil, at: now)
            }
            if hasOtherTargets {
                if let tap = panel.patches[slot][patch].tap { record(frame, on: tap, at: now) }
                if let kept = panel.patches[slot][patch].kept { keep(frame, header, on: kept, at: now) }
                for trunk in panel.patches[slot][patch].trunks { send(frame, from: publisher.handle, to: Int(trunk.shard)) }
            }
            // After the frame: what the room does about a talkspurt takes longer, and may change the panel.
            if let edge { submit(edge, of: panel.patches[slot][patch].track, publishedBy: publisher) }
        }
    }

    // MARK: From another shard

    /// Forwards a frame that its publisher's shard has checked.
    func forward(_ frame: UnsafeRawBufferPointer, fromTrunkOf publisher: ParticipantHandle) {
        guard let base = frame.baseAddress else { return }
        if let record = EarlierRecord(frame) { return take(record, EarlierRecord.payload(of: frame), from: publisher) }
        let header = FrameHeader(unchecked: base)
        let subscribers = remoteTracks.subscribers(to: header.alias, of: publisher)
        guard subscribers.isEmpty else { return forward(frame, of: header.alias, to: subscribers, endsTurn: false, at: context.now) }
        if aheads.count > 0 { appendRemote(frame, header, from: publisher) }
    }

    /// Sends a frame to another shard, which is woken if its trunk was empty.
    func send(_ frame: UnsafeRawBufferPointer, from publisher: ParticipantHandle, to shard: Int, evenIfFull: Bool = false) {
        let (isTaken, needsWake) = context.gateway.trunk(from: context.index, to: shard)
            .append(frame, from: publisher, evenIfFull: evenIfFull)
        if needsWake { context.gateway.mailboxes[shard].wake() }
        if !isTaken { context.countDropped(.full) }
    }

    // MARK: To subscribers

    private func forward(
        _ frame: UnsafeRawBufferPointer, of alias: TrackAlias, to subscribers: [UInt32], endsTurn: Bool, at now: Instant
    ) {
        guard !subscribers.isEmpty else { return }
        var staged = sender.stage(frame, of: alias, endsTurn: endsTurn)
        for index in 0..<subscribers.count {
            if subscribers.count > Self.prefetchedSubscribersMin { prefetch(subscribers, after: index) }
            slots.withOccupant(at: subscribers[index]) { sender.send(&staged, to: $0, at: now) }
        }
    }

    /// Sends what is queued for a connection, and what is due of `ahead` tracks, as far as its socket accepts it.
    private func flush(_ participant: ParticipantConnection) {
        if sender.flushOutbox(of: participant), participant.flow.isBehind { releaseAhead(to: participant) }
    }

    func flushWaiting() {
        sender.flushWaiting(slots) { participant in
            flush(participant)
            participant.completePendingClose()
        }
    }

    func writable(_ connection: Connection) {
        if let participant = slots[connection.slot] { flush(participant) }
    }

    /// - Returns: whether the pong answers the newest delivery probe.
    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) -> Bool {
        guard let participant = slots[connection.slot] else { return false }
        participant.lastReceivedAt = context.now
        guard participant.flow.probe.receivePong(payload, at: context.now) else { return false }
        flush(participant)
        return true
    }

    // MARK: Prefetching

    /// With hundreds of active connections, cache misses dominate. Memory that the next frame reads is prefetched while the kernel is busy:
    /// for a publisher's next frame by hints that its connection keeps, for the next subscribers of the same frame step by step.
    private static var prefetchedSubscribersMin: Int { 4 }
    /// Hints are renewed every 32 frames: they rarely change, and are never followed, so they may be stale.
    private static var prefetchMask: UInt16 { 31 }

    private func notePrefetchHints(of publisher: ParticipantConnection, at slot: Int, _ patch: Int) {
        guard let first = panel.patches[slot][patch].subscribers.first else { return }
        let track = panel.patches[slot].withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        let addresses = (publisher: slots.address(ofOccupantAt: UInt32(slot)), subscriber: slots.address(ofOccupantAt: first))
        slots.withOccupant(at: first) {
            let hints = $0.socket.prefetchHints(sender: addresses.publisher, track: track, subscriber: addresses.subscriber)
            if let hints { publisher.socket.prefetch(hints) }
        }
    }

    /// Each step depends on memory that the step before has prefetched, so each subscriber takes four steps.
    private func prefetch(_ subscribers: [UInt32], after index: Int) {
        if index + 4 < subscribers.count { PrefetchHints.fetch(slots.address(ofOccupantAt: subscribers[index + 4]), lines: 5) }
        if index + 3 < subscribers.count { slots.withOccupant(at: subscribers[index + 3]) { $0.socket.prefetch(.itself) } }
        if index + 2 < subscribers.count { slots.withOccupant(at: subscribers[index + 2]) { $0.socket.prefetch(.stream) } }
        if index + 1 < subscribers.count { slots.withOccupant(at: subscribers[index + 1]) { $0.socket.prefetch(.cipher) } }
    }

    // MARK: Reports to rooms

    /// A track's meter has found that a talkspurt began or ended.
    func submit(_ edge: TrackMeter.Edge, of track: TrackSID, publishedBy publisher: ParticipantConnection) {
        switch edge {
        case .started(let time): rooms.submit(.talkStarted(track, at: time), from: publisher)
        case .stopped(let time, let reason): rooms.submit(.talkStopped(track, at: time, reason), from: publisher)
        case .restarted(let time, let end):
            rooms.submit(.talkStopped(track, at: end, .silence), from: publisher)
            rooms.submit(.talkStarted(track, at: time), from: publisher)
        }
    }

    /// Finds talkspurts of a slot's tracks that have ended for lack of frames.
    func endTalkspurts(ofSlot slot: Int) {
        for (track, edge) in panel.endTalk(of: slot, at: context.now) {
            if let publisher = slots[slot] { submit(edge, of: track, publishedBy: publisher) }
        }
    }

    /// The measurements of these slots' tracks since the last call.
    func takeMeasurements(ofSlots slots: [Int]) -> [TrackMeasurement] {
        var measurements: [TrackMeasurement] = []
        for slot in slots { panel.takeMeasurements(of: slot, into: &measurements) }
        return measurements
    }

    private func countMalformed(_ error: FrameError, from publisher: ParticipantConnection) {
        context.countDropped(.malformed)
        context.counters.malformed[error.rawValue, default: 0] += 1
        publisher.countMalformed()
    }
}
