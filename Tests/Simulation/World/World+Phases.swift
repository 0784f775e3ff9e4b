internal import Engine
internal import Wire

/// The phases of a world: first faults (safety), then recovery (liveness).
extension World {
    /// Time to recover after the last fault.
    static let healingMax: Duration = .seconds(1)
    /// Duration of the talking phase, and the maximum delivery time.
    static let talkingSpan: Duration = .seconds(1)
    static let deliveryMax: Duration = .milliseconds(500)

    func begin() {
        for shard in shards { shard.scheduleTick() }
        for peer in peers { schedule.add(.connects(peer: peer.number), at: now + draw(upTo: .milliseconds(500))) }
        scheduleFault()
        scheduleExpectation()
        scheduleAdministration()
        schedule.add(.review, at: now + .milliseconds(100))
        schedule.add(.phase(.recovery), at: now + swarm.chaos)
    }

    func enter(_ phase: Phase) {
        log("now \(phase)")
        self.phase = phase
        switch phase {
        case .chaos: break
        case .recovery:
            for connection in connections { connection.heal() }
            for shard in shards { shard.resume() }
            for trunk in trunks { trunk.bytesMax = max(trunk.bytesMax, 1 << 20) }
            for peer in peers { peer.settle() }
            schedule.add(.phase(.liveness), at: now + Self.healingMax)
        case .liveness:
            livenessSince = now
            schedule.add(.phase(.draining), at: now + Self.talkingSpan)
        case .draining:
            schedule.add(.phase(.leaving), at: now + Self.deliveryMax)
        case .leaving:
            checkLiveness()
            for peer in peers { peer.leaveForGood() }
            schedule.add(.phase(.over), at: now + Self.fading)
        case .over:
            checkNothingRemains()
        }
    }

    /// Time until silently lost peers have timed out and their rooms have closed on all shards.
    private static let fading: Duration =
        .milliseconds(ProtocolLimits.pingTimeoutMilliseconds) + departureTimeout + resumeWindow + .seconds(5)
    static let departureTimeout: Duration = .seconds(2)
    static let resumeWindow: Duration = .seconds(3)
    static let emptyTimeout: Duration = .seconds(5)

    /// Short timeouts, so that rooms close and silence is reported within a world.
    var roomSettings: RoomSettings {
        RoomSettings(
            emptyTimeout: Self.emptyTimeout, departureTimeout: Self.departureTimeout, resumeWindow: Self.resumeWindow,
            maxParticipants: swarm.maxParticipants,
            silenceLimit: .seconds(3))
    }

    /// Whether peers may no longer connect.
    var isEnding: Bool {
        switch phase {
        case .chaos, .recovery, .liveness, .draining: false
        case .leaving, .over: true
        }
    }

    func review() {
        routing.review(in: self)
        if failure == nil { schedule.add(.review, at: now + .milliseconds(100)) }
    }
}
