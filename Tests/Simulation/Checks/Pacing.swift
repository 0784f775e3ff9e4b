internal import Engine
internal import Wire

/// How far each listener of an `ahead` track is ahead of what plays, reckoned from nothing but what was let out to it and when.
struct Pacing {
    private struct Key: Hashable {
        let listener: ParticipantHandle
        let track: TrackSID
    }

    private struct Arrival: Hashable {
        let frame: Int
        let shard: Int
    }

    private struct Player {
        /// When all that was let out will have played.
        var playedOut: Instant
        /// When it would have played if all had been let out as soon as it came.
        var playedAtBest: Instant
        var end: MediaTime
        var epoch: UInt8
        /// A stall has brought more at once than can be played in time, and how much of that was thrown away nobody knows.
        var hasStalled = false
    }

    private var players: [Key: Player] = [:]
    private var arrivals: [Arrival: Instant] = [:]
    /// When a listener's socket had no room: what is overdue then leaves at once, and is more than the lead.
    private var stalledAt: [ParticipantHandle: Instant] = [:]

    mutating func arrived(_ frame: Int, at shard: Int, _ now: Instant) {
        if frame >= 0 { arrivals[Arrival(frame: frame, shard: shard)] = now }
    }

    mutating func stall(_ listener: SimulatedMember, at now: Instant) {
        stalledAt[listener.handle] = now
        listener.line.world.note(
            "speech for \(listener.line.stay) waits: control \(listener.outbox.hasControl), congested \(listener.line.isCongested)")
    }

    /// A frame is let out: not too early, and not late if it was there in time.
    mutating func letOut(_ number: Int, _ said: Ledger.Frame, to listener: SimulatedMember, at shard: SimulatedShard, in world: World) {
        let (now, span) = (world.now, Duration.nanoseconds(Int64(said.milliseconds * 1_000_000)))
        let key = Key(listener: listener.handle, track: said.track)
        let end = said.header.timestamp.advanced(by: Int(said.milliseconds * Double(MediaTime.ticksPerMillisecond)))
        var player = players[key] ?? Player(playedOut: now, playedAtBest: now, end: said.header.timestamp, epoch: said.header.epoch)
        let follows = player.end == said.header.timestamp && player.epoch == said.header.epoch
        let since = arrivals[Arrival(frame: number, shard: shard.index)] ?? now
        if !follows {
            // Behind a gap in the middle the clock goes on, and where it stands is not to be seen from here.
            let isInTheMiddle = player.epoch == said.header.epoch && player.playedOut + .seconds(1) > now
            player = Player(
                playedOut: now, playedAtBest: now, end: said.header.timestamp, epoch: said.header.epoch, hasStalled: isInTheMiddle)
        } else if player.playedOut + .seconds(1) < now {
            // Nothing was said for a while: whatever was, is over.
            player.hasStalled = false
        }
        if stalledAt[listener.handle].map({ now - $0 < Self.stallSpan }) == true { player.hasStalled = true }
        if world.truth.wasPaused(said, lately: world) { player.hasStalled = true }
        let playsAtBest = max(player.playedAtBest, since)
        if !player.hasStalled, follows {
            // After a thread's pause the overdue leaves at once too.
            let lead = player.playedOut - now
            world.expect(
                lead <= Self.leadMax + span + world.swarm.turnDelayMax,
                "frame \(number) is let out \(lead.inMilliseconds) ms ahead to \(listener.line.stay)")
            let late = now - playsAtBest
            world.expect(
                late <= Self.lateMax + world.swarm.turnDelayMax,
                "frame \(number) is let out \(late.inMilliseconds) ms late to \(listener.line.stay)")
        }
        player.playedOut = max(player.playedOut, now) + span
        player.playedAtBest = playsAtBest + span
        player.end = end
        players[key] = player
    }

    /// What follows a stall within that time follows from it.
    private static let stallSpan: Duration = .seconds(5)
    private static let leadMax: Duration = .milliseconds(ProtocolLimits.leadMilliseconds + 2)
    /// A tick, and a clock in milliseconds.
    private static let lateMax: Duration = .milliseconds(25)
}
