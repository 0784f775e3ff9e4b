internal import Engine
internal import Wire

/// What a subscriber has of an `ahead` track, played as it comes.
struct Player {
    var epoch: UInt8
    /// When all that it has will have played, and the track's time then.
    var playedOut: Instant
    var end: MediaTime
    var isReporting = false
}

/// Speech that is pushed ahead, marks, talking over it, and what was really heard.
extension Stay {
    // MARK: As an assistant

    /// Pushes an utterance at once, with a mark in the middle and one at its end; or gets itself a track for that.
    func speakAhead() {
        guard let track = published.firstIndex(where: { $0.mode == .ahead && !$0.isUnpublished }) else {
            ask(.publish(PublishTrack(source: .assistant, mode: .ahead)), .publish)
            return
        }
        push(world.chance.exponential(mean: .seconds(2)), on: track)
    }

    /// The utterance that all must hear, when all is well.
    func speakOnceAhead(_ track: Int) {
        guard !published[track].hasSpoken, mustBeHeard(published[track].sid) else { return }
        published[track].hasSpoken = true
        push(.milliseconds(600), on: track)
    }

    private func push(_ span: Duration, on track: Int) {
        let count = max(1, Int(Double(span.inMilliseconds) / published[track].frameMilliseconds))
        let middle = world.chance.below(count)
        var frames: [[UInt8]] = []
        for number in 0..<count {
            if number == middle { mark(track) }
            frames.append(nextFrame(of: track, flags: number == 0 ? .talkspurtStart : number == count - 1 ? .talkspurtEnd : []))
            let isFull = frames.count == 50 || frames.reduce(4_000) { $0 + $1.count + 2 } > ProtocolLimits.messageBytesMax
            if isFull || number == count - 1 {
                line.send(.binary(frames.count == 1 ? frames[0] : Bundle.joining(frames)))
                frames = []
            }
        }
        mark(track)
    }

    private func mark(_ track: Int) {
        lastMark += 1
        let name = "\(number)-\(lastMark)"
        marks.insert(name)
        ask(.playoutMark(PlayoutMark(track: published[track].sid, ts: published[track].timestamp, name: name)), .mark(name))
    }

    // MARK: As a subscriber

    func bargeIn(_ sid: TrackSID) {
        ask(.playoutClear(sid, reason: "barge-in"), .clear(sid))
    }

    /// A frame to be played after what is there, or now.
    func play(_ said: Ledger.Frame, _ header: FrameHeader) {
        let sid = said.track
        if let epoch = epochs[sid] {
            world.expect(header.epoch &- epoch < 128, "\(self) hears epoch \(header.epoch) of \(sid) after it was told of epoch \(epoch)")
        }
        let span = Duration.nanoseconds(Int64(said.milliseconds * 1_000_000))
        let end = header.timestamp.advanced(by: Int(said.milliseconds * Double(MediaTime.ticksPerMillisecond)))
        var player = players[sid] ?? Player(epoch: header.epoch, playedOut: world.now, end: end)
        if player.epoch != header.epoch { player.playedOut = world.now }
        player.epoch = header.epoch
        player.playedOut = max(player.playedOut, world.now) + span
        player.end = end
        if !player.isReporting {
            player.isReporting = true
            world.agenda.add(.reports(stay: number, track: sid), at: world.now + .milliseconds(200))
        }
        players[sid] = player
    }

    /// Says how far it has heard, every 200 ms while it plays.
    func report(_ sid: TrackSID) {
        guard !isOver, let player = players[sid], let track = tracks[sid], track.participant != peer.identity else { return }
        let left = max(.zero, player.playedOut - world.now)
        let played = player.end.advanced(by: -Int(left.inMilliseconds) * MediaTime.ticksPerMillisecond)
        tell(PlayoutProgress(track: sid, epoch: player.epoch, playedTs: played.ticks, bufferedMs: Double(left.inMilliseconds)))
        players[sid]?.isReporting = left > .zero
        if left > .zero { world.agenda.add(.reports(stay: number, track: sid), at: world.now + .milliseconds(200)) }
    }

    private func tell(_ progress: PlayoutProgress) {
        line.send(.text(OutgoingRequest(.playoutProgress(progress)).bytes))
    }

    /// Who listens anew is given again what it may not have played.
    func forgetOrderIfAnew(_ sid: TrackSID) {
        if listensAnew.remove(sid) != nil { lastHeard[sid] = nil }
    }

    // MARK: What is told

    /// The track's epoch is that, or a later one that was told already.
    func raise(_ sid: TrackSID, to epoch: UInt8) {
        guard let known = epochs[sid], epoch &- known < 128, epoch != known else { return }
        epochs[sid] = epoch
        players[sid] = nil
        if let place = published.firstIndex(where: { $0.sid == sid }) { published[place].epoch = epoch }
        if tracks[sid]?.participant != peer.identity {
            tell(PlayoutProgress(track: sid, epoch: epoch, playedTs: nil, bufferedMs: 0))
        }
    }

    func take(playout event: Event) {
        // Of a track of its own it may have missed the answer that names it: its greeting will.
        let mayBeUnknown = isResumed && hello == nil
        switch event {
        case .playoutMarked(let sid, let name, _, _):
            world.expect(mayBeUnknown || published.contains { $0.sid == sid }, "\(self) is told of a mark on a track that is not its own")
            world.expect(marks.remove(name) != nil, "\(self) is told twice of mark \(name)")
        case .playoutCleared(let cut, _):
            world.expect(mayBeUnknown || tracks[cut.track] != nil, "\(self) is told of a track that is not there: \(event)")
            playing.remove(cut.track)
            raise(cut.track, to: cut.epoch)
        case .playoutStarted(let sid, let identity, _, _):
            knows(sid, of: identity, event)
            world.expect(playing.insert(sid).inserted, "\(self) is told twice that \(sid) plays")
        case .playoutFinished(let sid, let identity, _, _):
            knows(sid, of: identity, event)
            world.expect(playing.remove(sid) != nil, "\(self) is told that \(sid) has finished, which did not play")
        case .playoutBacklog(let sid, _, _, _):
            world.expect(mayBeUnknown || published.contains { $0.sid == sid }, "\(self) is told how far somebody else is ahead")
        default: break
        }
    }
}
