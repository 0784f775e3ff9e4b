internal import Engine
internal import Wire

/// Publishing live audio: talkspurts and pauses on each published track.
extension PeerSession {
    /// The next frame of a track is due.
    func speak(_ index: Int) {
        guard !isOver, !published[index].isUnpublished else { return }
        let track = published[index]
        world.schedule.add(
            .speaks(session: number, track: index), at: world.now + .nanoseconds(Int64(track.frameMilliseconds * 1_000_000)))
        // Only one track after the faults, to avoid overload.
        let isExtra = published[..<index].contains { !$0.isUnpublished }
        switch world.phase {
        case .chaos: toggleTalking(index)
        case .recovery: if isExtra { return } else { toggleTalking(index) }
        case .liveness where track.mode == .ahead: return isExtra ? () : speakOnceAhead(index)
        case .liveness: if isExtra { return } else { startTalking(index, until: world.now + .seconds(5)) }
        case .draining, .leaving, .over: return
        }
        if track.mode == .ahead { return }
        let ticks = UInt32(track.frameMilliseconds * Double(MediaTime.ticksPerMillisecond))
        guard published[index].isTalking else { return published[index].timestamp &+= ticks }
        let isFirst = !track.isTalking
        let isLast = world.now + .milliseconds(Int64(track.frameMilliseconds)) >= published[index].until
        let flags: FrameFlags = isFirst ? .talkspurtStart : isLast && world.random.chance(0.5) ? .talkspurtEnd : []
        connection.send(.binary(nextFrame(of: index, flags: flags)))
    }

    private func toggleTalking(_ index: Int) {
        guard world.now >= published[index].until else { return }
        published[index].isTalking.toggle()
        let mean = published[index].isTalking ? world.swarm.talkMean : world.swarm.pauseMean
        published[index].until = world.now + world.random.exponential(mean: mean)
    }

    private func startTalking(_ index: Int, until end: Instant) {
        guard !published[index].isTalking || published[index].until < end else { return }
        published[index].isTalking = true
        published[index].until = end
    }

    /// Creates the next frame of a track and records it in the ledger.
    func nextFrame(of index: Int, flags: FrameFlags = [], epoch: UInt8? = nil) -> [UInt8] {
        let track = published[index]
        let header = FrameHeader(
            flags: flags, alias: track.alias, sequence: SequenceNumber(track.sequence),
            level: AudioLevelByte(voice: world.random.chance(0.9), level: world.random.between(20, 60)), epoch: epoch ?? track.epoch,
            timestamp: MediaTime(ticks: track.timestamp))
        published[index].sequence &+= 1
        published[index].timestamp &+= UInt32(track.frameMilliseconds * Double(MediaTime.ticksPerMillisecond))
        let isDeliverable = !track.isMuted && !track.isUnpublished && !isHeld && header.epoch == track.epoch
        return world.ledger.enter(
            header, of: track.sid, track.mode, milliseconds: track.frameMilliseconds, by: self, isDeliverable: isDeliverable, in: world)
    }

    /// Whether a mute, hold or unpublish request is pending.
    var hasPendingSilence: Bool {
        isLeaving
            || pendingRequests.values.contains { meaning in
                switch meaning {
                case .mute(_, true), .hold(true), .unpublish: true
                default: false
                }
            }
    }

    /// Whether frames sent now must reach all permitted subscribers.
    func mustBeDelivered(_ sid: TrackSID) -> Bool {
        guard case .liveness = world.phase, isSettling, pendingRequests.isEmpty, joinedAt <= world.livenessSince else { return false }
        return published.contains { $0.sid == sid && !$0.isMuted && !$0.isUnpublished }
    }
}
