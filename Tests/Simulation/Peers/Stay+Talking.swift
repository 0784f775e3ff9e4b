internal import Engine
internal import Wire

/// What a peer says: talkspurts and pauses on each track of its own, one frame after another.
extension Stay {
    /// One frame's time of one track has come.
    func speak(_ place: Int) {
        guard !isOver, !published[place].isUnpublished else { return }
        let track = published[place]
        world.agenda.add(
            .speaks(stay: number, track: place), at: world.now + .nanoseconds(Int64(track.frameMilliseconds * 1_000_000)))
        // A world at peace is not one that is overloaded.
        let isExtra = published[..<place].contains { !$0.isUnpublished }
        switch world.phase {
        case .chaos: turnOver(place)
        case .healed: if isExtra { return } else { turnOver(place) }
        case .audible where track.mode == .ahead: return isExtra ? () : speakOnceAhead(place)
        case .audible: if isExtra { return } else { startTalking(place, until: world.now + .seconds(5)) }
        case .hushed, .leaving, .over: return
        }
        if track.mode == .ahead { return }
        let ticks = UInt32(track.frameMilliseconds * Double(MediaTime.ticksPerMillisecond))
        guard published[place].isTalking else { return published[place].timestamp &+= ticks }
        let isFirst = !track.isTalking
        let isLast = world.now + .milliseconds(Int64(track.frameMilliseconds)) >= published[place].until
        let flags: FrameFlags = isFirst ? .talkspurtStart : isLast && world.chance.chance(0.5) ? .talkspurtEnd : []
        line.send(.binary(nextFrame(of: place, flags: flags)))
    }

    private func turnOver(_ place: Int) {
        guard world.now >= published[place].until else { return }
        published[place].isTalking.toggle()
        let mean = published[place].isTalking ? world.swarm.talkMean : world.swarm.pauseMean
        published[place].until = world.now + world.chance.exponential(mean: mean)
    }

    private func startTalking(_ place: Int, until end: Instant) {
        guard !published[place].isTalking || published[place].until < end else { return }
        published[place].isTalking = true
        published[place].until = end
    }

    /// The next frame of a track, entered in the ledger.
    func nextFrame(of place: Int, flags: FrameFlags = [], epoch: UInt8? = nil) -> [UInt8] {
        let track = published[place]
        let header = FrameHeader(
            flags: flags, alias: track.alias, sequence: SequenceNumber(track.sequence),
            level: AudioLevelByte(voice: world.chance.chance(0.9), level: world.chance.between(20, 60)), epoch: epoch ?? track.epoch,
            timestamp: MediaTime(ticks: track.timestamp))
        published[place].sequence &+= 1
        published[place].timestamp &+= UInt32(track.frameMilliseconds * Double(MediaTime.ticksPerMillisecond))
        let mayBeHeard = !track.isMuted && !track.isUnpublished && !isHeld && header.epoch == track.epoch
        return world.ledger.enter(
            header, of: track.sid, track.mode, milliseconds: track.frameMilliseconds, by: self, mayBeHeard: mayBeHeard, in: world)
    }

    /// It waits for the word that it is muted or held, or that a track has ended.
    var hasAskedForSilence: Bool {
        isLeaving
            || asked.values.contains { meaning in
                switch meaning {
                case .mute(_, true), .hold(true), .unpublish: true
                default: false
                }
            }
    }

    /// Whether what it says from now on must come to all who may hear.
    func mustBeHeard(_ sid: TrackSID) -> Bool {
        guard case .audible = world.phase, isSettling, asked.isEmpty, welcomedAt <= world.audibleSince else { return false }
        return published.contains { $0.sid == sid && !$0.isMuted && !$0.isUnpublished }
    }
}
