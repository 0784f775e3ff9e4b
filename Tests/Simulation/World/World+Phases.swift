internal import Engine
internal import Wire

/// First faults, under which nothing may be wrong; then health, in which everything must go well.
extension World {
    /// Within this time of healing all who may talk hear each other.
    static let healingMax: Duration = .seconds(1)
    /// How long they then talk, and how long what they said may take.
    static let talkingSpan: Duration = .seconds(1)
    static let hearingMax: Duration = .milliseconds(500)

    func begin() {
        for shard in shards { shard.scheduleTick() }
        for peer in peers { agenda.add(.connects(peer: peer.number), at: now + draw(upTo: .milliseconds(500))) }
        scheduleTrouble()
        agenda.add(.review, at: now + .milliseconds(100))
        agenda.add(.phase(.healed), at: now + swarm.chaos)
    }

    func enter(_ phase: Phase) {
        note("now \(phase)")
        self.phase = phase
        switch phase {
        case .chaos: break
        case .healed:
            for line in lines { line.heal() }
            for shard in shards { shard.resume() }
            for trunk in trunks { trunk.bytesMax = max(trunk.bytesMax, 1 << 20) }
            for peer in peers { peer.settle() }
            agenda.add(.phase(.audible), at: now + Self.healingMax)
        case .audible:
            audibleSince = now
            agenda.add(.phase(.hushed), at: now + Self.talkingSpan)
        case .hushed:
            agenda.add(.phase(.leaving), at: now + Self.hearingMax)
        case .leaving:
            checkEverybodyWasHeard()
            for peer in peers { peer.leaveForGood() }
            agenda.add(.phase(.over), at: now + Self.fading)
        case .over:
            checkNothingIsLeft()
        }
    }

    /// Until a peer that went without a word is missed, its room is over, and the shards have noticed.
    private static let fading: Duration =
        .milliseconds(ProtocolLimits.pingTimeoutMilliseconds) + departureTimeout + resumeWindow + .seconds(5)
    static let departureTimeout: Duration = .seconds(2)
    static let resumeWindow: Duration = .seconds(3)
    static let emptyTimeout: Duration = .seconds(5)

    /// Rooms that end when nobody is in them, silence that is told while somebody watches.
    var roomSettings: RoomSettings {
        RoomSettings(
            emptyTimeout: Self.emptyTimeout, departureTimeout: Self.departureTimeout, resumeWindow: Self.resumeWindow,
            maxParticipants: swarm.maxParticipants,
            silenceLimit: .seconds(3))
    }

    /// Nobody comes any more.
    var isEnding: Bool {
        switch phase {
        case .chaos, .healed, .audible, .hushed: false
        case .leaving, .over: true
        }
    }

    func review() {
        truth.review(in: self)
        if failure == nil { agenda.add(.review, at: now + .milliseconds(100)) }
    }
}
