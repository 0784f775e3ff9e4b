internal import Engine
internal import Wire

/// Checks the pacing of `ahead` tracks: each subscriber's buffered audio, derived only from the frames released to it and their times.
struct PacingChecker {
    private struct Key: Hashable {
        let subscriber: ParticipantHandle
        let alias: TrackAlias
    }

    private struct Arrival: Hashable {
        let frame: Int
        let shard: Int
    }

    /// One shard's queue of a track.
    private struct Kept: Hashable {
        let track: TrackSID
        let shard: Int
    }

    /// A queue's index on a shard.
    private struct Place: Hashable {
        let shard: Int
        let aheadIndex: Int
    }

    private struct Player {
        let track: TrackSID
        /// When everything released will have played.
        var playedOut: Instant
        /// The same if every frame had been released on arrival.
        var playedAtBest: Instant
        var end: MediaTime
        var epoch: UInt8
        /// A stall released more at once than the lead, and what the client discarded of it is unknown.
        var hasStalled = false
        /// Its clock is known: it started with a frame released on arrival, and nothing has stalled since.
        var isTimed = false
    }

    private var players: [Key: Player] = [:]
    private var tracks: [Place: TrackSID] = [:]
    private var arrivals: [Arrival: Instant] = [:]
    /// Queued frames by timestamp.
    private var kept: [Kept: [UInt32: Int]] = [:]
    /// When a subscriber's connection last had no room. Overdue frames are then released at once and exceed the lead.
    private var stalledAt: [ParticipantHandle: Instant] = [:]

    /// Records a queued frame.
    ///
    /// - Parameter aheadIndex: index of the queue on its shard.
    mutating func arrived(_ frame: Int, at shard: Int, aheadIndex: Int, in world: World) {
        guard frame >= 0 else { return }
        tracks[Place(shard: shard, aheadIndex: aheadIndex)] = world.ledger.frames[frame].track
        arrivals[Arrival(frame: frame, shard: shard)] = world.now
        let entry = world.ledger.frames[frame]
        kept[Kept(track: entry.track, shard: shard), default: [:]][entry.header.timestamp.ticks] = frame
    }

    /// A shard has discarded its queue. The replay for its next subscriber may contain less.
    mutating func forgotten(_ aheadIndex: Int, at shard: Int) {
        if let track = tracks.removeValue(forKey: Place(shard: shard, aheadIndex: aheadIndex)) {
            kept[Kept(track: track, shard: shard)] = nil
        }
    }

    /// A new subscription: its position and clock are unknown.
    mutating func resubscribed(_ subscriber: ParticipantHandle, to alias: TrackAlias) {
        players[Key(subscriber: subscriber, alias: alias)]?.isTimed = false
    }

    mutating func stall(_ subscriber: SimulatedMember, at now: Instant) {
        stalledAt[subscriber.handle] = now
        subscriber.connection.world.log(
            "release to \(subscriber.connection.session) is delayed: control \(subscriber.outbox.hasControl), congested \(subscriber.connection.isCongested)"
        )
    }

    /// Checks a released frame: not too early, and not late if it was queued in time.
    mutating func release(_ number: Int, _ entry: Ledger.Frame, to subscriber: SimulatedMember, at shard: SimulatedShard, in world: World) {
        let (now, span) = (world.now, Duration.nanoseconds(Int64(entry.milliseconds * 1_000_000)))
        let key = Key(subscriber: subscriber.handle, alias: entry.header.alias)
        let end = entry.header.timestamp.advanced(by: Int(entry.milliseconds * Double(MediaTime.ticksPerMillisecond)))
        var player =
            players[key]
            ?? Player(track: entry.track, playedOut: now, playedAtBest: now, end: entry.header.timestamp, epoch: entry.header.epoch)
        let follows = player.end == entry.header.timestamp && player.epoch == entry.header.epoch
        let arrival = arrivals[Arrival(frame: number, shard: shard.index)]
        let since = arrival ?? now
        if !follows {
            // After a gap within an utterance the clock continues, and its position is unknown here.
            let isInTheMiddle = player.epoch == entry.header.epoch && player.playedOut + .seconds(1) > now
            player = Player(
                track: entry.track, playedOut: now, playedAtBest: now, end: entry.header.timestamp, epoch: entry.header.epoch,
                hasStalled: isInTheMiddle)
        } else if player.playedOut + .seconds(1) < now {
            // Drained for a while: an earlier stall no longer matters.
            player.hasStalled = false
        }
        if stalledAt[subscriber.handle].map({ now - $0 < Self.stallSpan }) == true { player.hasStalled = true }
        if world.routing.wasPaused(entry, lately: world) { player.hasStalled = true }
        let playsAtBest = max(player.playedAtBest, since)
        if !player.hasStalled, follows {
            // After a pause of the thread, overdue frames are released at once too.
            let lead = player.playedOut - now
            world.expect(
                lead <= Self.leadMax + span + world.swarm.turnDelayMax,
                "frame \(number) is released \(lead.inMilliseconds) ms ahead to \(subscriber.connection.session)")
            let late = now - playsAtBest
            world.expect(
                late <= Self.lateMax + world.swarm.turnDelayMax,
                "frame \(number) is released \(late.inMilliseconds) ms late to \(subscriber.connection.session)")
        }
        if arrival == now, playsAtBest == since { player.isTimed = true }
        if player.hasStalled { player.isTimed = false }
        player.playedOut = max(player.playedOut, now) + span
        player.playedAtBest = playsAtBest + span
        player.end = end
        players[key] = player
    }

    /// Checks after a tick that every subscriber with room has enough buffered, or nothing more was queued.
    func checkAfterTick(_ shard: SimulatedShard, in world: World) {
        for case let subscriber? in shard.slots where !subscriber.aheadIndices.isEmpty {
            guard subscriber.pendingClose == nil, subscriber.isReachable, subscriber.connection.phase == .open else { continue }
            if let stalledAt = stalledAt[subscriber.handle], world.now - stalledAt < Self.stallSpan { continue }
            for aheadIndex in subscriber.aheadIndices {
                let key = Key(subscriber: subscriber.handle, alias: shard.aheads.tracks[aheadIndex].alias)
                if let player = players[key], player.isTimed { check(player, of: subscriber, on: shard, in: world) }
            }
        }
    }

    private func check(_ player: Player, of subscriber: SimulatedMember, on shard: SimulatedShard, in world: World) {
        guard let number = kept[Kept(track: player.track, shard: shard.index)]?[player.end.ticks],
            let since = arrivals[Arrival(frame: number, shard: shard.index)], since < world.now
        else { return }
        let entry = world.ledger.frames[number]
        guard entry.header.epoch == player.epoch, world.routing.plays(entry, in: world) else { return }
        let inHand = max(player.playedAtBest, since) - world.now
        world.expect(
            inHand >= Self.leadMin,
            "frame \(number) is not released though \(subscriber.connection.session) has only \(inHand.inMilliseconds) ms buffered")
    }

    /// Deviations within this time of a stall are attributed to it.
    private static let stallSpan: Duration = .seconds(5)
    private static let leadMax: Duration = .milliseconds(ProtocolLimits.leadMilliseconds + 2)
    /// The promised lead minus one bundle: whether a frame played on arrival or slightly later is unknown here.
    private static let leadMin: Duration = .milliseconds(180 - ProtocolLimits.bundleMilliseconds)
    /// One tick plus the clock's millisecond resolution.
    private static let lateMax: Duration = .milliseconds(25)
}
