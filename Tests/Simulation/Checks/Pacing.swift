internal import Engine
internal import Wire

/// How far each subscriber of an `ahead` track is ahead of what plays, reckoned from nothing but what was let out to it and when.
struct Pacing {
    private struct Key: Hashable {
        let subscriber: ParticipantHandle
        let alias: TrackAlias
    }

    private struct Arrival: Hashable {
        let frame: Int
        let shard: Int
    }

    /// A track as one shard keeps it.
    private struct Kept: Hashable {
        let track: TrackSID
        let shard: Int
    }

    /// Where a shard keeps it.
    private struct Place: Hashable {
        let shard: Int
        let place: Int
    }

    private struct Player {
        let track: TrackSID
        /// When all that was let out will have played.
        var playedOut: Instant
        /// When it would have played if all had been let out as soon as it came.
        var playedAtBest: Instant
        var end: MediaTime
        var epoch: UInt8
        /// A stall has brought more at once than can be played in time, and how much of that was thrown away nobody knows.
        var hasStalled = false
        /// Its clock is known: it began with a frame that was let out in the turn in which it came, and nothing has stalled since.
        var isTimed = false
    }

    private var players: [Key: Player] = [:]
    private var tracks: [Place: TrackSID] = [:]
    private var arrivals: [Arrival: Instant] = [:]
    /// What has arrived, by timestamp.
    private var kept: [Kept: [UInt32: Int]] = [:]
    /// When a subscriber's socket had no room: what is overdue then leaves at once, and is more than the lead.
    private var stalledAt: [ParticipantHandle: Instant] = [:]

    /// - Parameter place: where the shard keeps the track.
    mutating func arrived(_ frame: Int, at shard: Int, place: Int, in world: World) {
        guard frame >= 0 else { return }
        tracks[Place(shard: shard, place: place)] = world.ledger.frames[frame].track
        arrivals[Arrival(frame: frame, shard: shard)] = world.now
        let said = world.ledger.frames[frame]
        kept[Kept(track: said.track, shard: shard), default: [:]][said.header.timestamp.ticks] = frame
    }

    /// A shard has forgotten what it had of a track. What it is sent when it listens anew may be less.
    mutating func forgotten(_ place: Int, at shard: Int) {
        if let track = tracks.removeValue(forKey: Place(shard: shard, place: place)) { kept[Kept(track: track, shard: shard)] = nil }
    }

    /// Somebody begins to listen, from wherever that is and by whose clock.
    mutating func listensAnew(_ subscriber: ParticipantHandle, to alias: TrackAlias) {
        players[Key(subscriber: subscriber, alias: alias)]?.isTimed = false
    }

    mutating func stall(_ subscriber: SimulatedMember, at now: Instant) {
        stalledAt[subscriber.handle] = now
        subscriber.line.world.note(
            "speech for \(subscriber.line.stay) waits: control \(subscriber.outbox.hasControl), congested \(subscriber.line.isCongested)")
    }

    /// A frame is let out: not too early, and not late if it was there in time.
    mutating func release(_ number: Int, _ said: Ledger.Frame, to subscriber: SimulatedMember, at shard: SimulatedShard, in world: World) {
        let (now, span) = (world.now, Duration.nanoseconds(Int64(said.milliseconds * 1_000_000)))
        let key = Key(subscriber: subscriber.handle, alias: said.header.alias)
        let end = said.header.timestamp.advanced(by: Int(said.milliseconds * Double(MediaTime.ticksPerMillisecond)))
        var player =
            players[key]
            ?? Player(track: said.track, playedOut: now, playedAtBest: now, end: said.header.timestamp, epoch: said.header.epoch)
        let follows = player.end == said.header.timestamp && player.epoch == said.header.epoch
        let arrival = arrivals[Arrival(frame: number, shard: shard.index)]
        let since = arrival ?? now
        if !follows {
            // Behind a gap in the middle the clock goes on, and where it stands is not to be seen from here.
            let isInTheMiddle = player.epoch == said.header.epoch && player.playedOut + .seconds(1) > now
            player = Player(
                track: said.track, playedOut: now, playedAtBest: now, end: said.header.timestamp, epoch: said.header.epoch,
                hasStalled: isInTheMiddle)
        } else if player.playedOut + .seconds(1) < now {
            // Nothing was said for a while: whatever was, is over.
            player.hasStalled = false
        }
        if stalledAt[subscriber.handle].map({ now - $0 < Self.stallSpan }) == true { player.hasStalled = true }
        if world.truth.wasPaused(said, lately: world) { player.hasStalled = true }
        let playsAtBest = max(player.playedAtBest, since)
        if !player.hasStalled, follows {
            // After a thread's pause the overdue leaves at once too.
            let lead = player.playedOut - now
            world.expect(
                lead <= Self.leadMax + span + world.swarm.turnDelayMax,
                "frame \(number) is let out \(lead.inMilliseconds) ms ahead to \(subscriber.line.stay)")
            let late = now - playsAtBest
            world.expect(
                late <= Self.lateMax + world.swarm.turnDelayMax,
                "frame \(number) is let out \(late.inMilliseconds) ms late to \(subscriber.line.stay)")
        }
        if arrival == now, playsAtBest == since { player.isTimed = true }
        if player.hasStalled { player.isTimed = false }
        player.playedOut = max(player.playedOut, now) + span
        player.playedAtBest = playsAtBest + span
        player.end = end
        players[key] = player
    }

    /// A shard has just looked at what is due: who had room has enough in hand, or nothing more was there.
    func looked(_ shard: SimulatedShard, in world: World) {
        for case let subscriber? in shard.slots where !subscriber.aheadIndices.isEmpty {
            guard subscriber.pendingClose == nil, subscriber.isReachable, subscriber.line.phase == .open else { continue }
            if let stalledAt = stalledAt[subscriber.handle], world.now - stalledAt < Self.stallSpan { continue }
            for place in subscriber.aheadIndices {
                let key = Key(subscriber: subscriber.handle, alias: shard.aheads.tracks[place].alias)
                if let player = players[key], player.isTimed { look(at: player, of: subscriber, on: shard, in: world) }
            }
        }
    }

    private func look(at player: Player, of subscriber: SimulatedMember, on shard: SimulatedShard, in world: World) {
        guard let number = kept[Kept(track: player.track, shard: shard.index)]?[player.end.ticks],
            let since = arrivals[Arrival(frame: number, shard: shard.index)], since < world.now
        else { return }
        let said = world.ledger.frames[number]
        guard said.header.epoch == player.epoch, world.truth.plays(said, in: world) else { return }
        let inHand = max(player.playedAtBest, since) - world.now
        world.expect(
            inHand >= Self.leadMin, "frame \(number) waits though \(subscriber.line.stay) has only \(inHand.inMilliseconds) ms in hand")
    }

    /// What follows a stall within that time follows from it.
    private static let stallSpan: Duration = .seconds(5)
    private static let leadMax: Duration = .milliseconds(ProtocolLimits.leadMilliseconds + 2)
    /// What the contract promises, less one bundle: where a frame that came played at once or a moment later is not to be seen from here.
    private static let leadMin: Duration = .milliseconds(180 - ProtocolLimits.bundleMilliseconds)
    /// A tick, and a clock in milliseconds.
    private static let lateMax: Duration = .milliseconds(25)
}
