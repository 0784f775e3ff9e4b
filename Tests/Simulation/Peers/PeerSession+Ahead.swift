internal import Engine
internal import Wire

/// Playout buffer of a subscriber of an `ahead` track.
struct Player {
    var epoch: UInt8
    /// When everything buffered will have played, and the media time then.
    var playedOut: Instant
    var end: MediaTime
    var isReporting = false
}

/// `ahead` tracks: publishing, marks, clears and playout reports.
extension PeerSession {
    // MARK: Publishing

    /// Pushes an utterance at once, with a mark within and one at its end. Publishes a track first if necessary.
    func speakAhead() {
        guard let track = published.firstIndex(where: { $0.mode == .ahead && !$0.isUnpublished }) else {
            sendRequest(.publish(PublishTrack(source: .assistant, mode: .ahead)), .publish)
            return
        }
        push(world.random.exponential(mean: .seconds(2)), on: track)
    }

    /// Pushes the utterance of the liveness phase.
    func speakOnceAhead(_ track: Int) {
        guard !published[track].hasSpoken, mustBeDelivered(published[track].sid) else { return }
        published[track].hasSpoken = true
        push(.milliseconds(600), on: track)
    }

    private func push(_ span: Duration, on track: Int) {
        let count = max(1, Int(Double(span.inMilliseconds) / published[track].frameMilliseconds))
        let middle = world.random.below(count)
        var frames: [[UInt8]] = []
        for number in 0..<count {
            if number == middle { mark(track) }
            frames.append(nextFrame(of: track, flags: number == 0 ? .talkspurtStart : number == count - 1 ? .talkspurtEnd : []))
            let isFull = frames.count == 50 || frames.reduce(4_000) { $0 + $1.count + 2 } > ProtocolLimits.messageBytesMax
            if isFull || number == count - 1 {
                connection.send(.binary(frames.count == 1 ? frames[0] : Bundle.joining(frames)))
                frames = []
            }
        }
        mark(track)
    }

    private func mark(_ track: Int) {
        lastMark += 1
        let name = "\(number)-\(lastMark)"
        marks.insert(name)
        sendRequest(.playoutMark(PlayoutMark(track: published[track].sid, ts: published[track].timestamp, name: name)), .mark(name))
    }

    // MARK: Subscribing

    func bargeIn(_ sid: TrackSID) {
        sendRequest(.playoutClear(sid, reason: "barge-in"), .clear(sid))
    }

    /// Buffers a received frame for playout.
    func play(_ entry: Ledger.Frame, _ header: FrameHeader) {
        let sid = entry.track
        if let epoch = epochs[sid] {
            world.expect(header.epoch &- epoch < 128, "\(self) receives epoch \(header.epoch) of \(sid) after the event for epoch \(epoch)")
        }
        let span = Duration.nanoseconds(Int64(entry.milliseconds * 1_000_000))
        let end = header.timestamp.advanced(by: Int(entry.milliseconds * Double(MediaTime.ticksPerMillisecond)))
        var player = players[sid] ?? Player(epoch: header.epoch, playedOut: world.now, end: end)
        if player.epoch != header.epoch { player.playedOut = world.now }
        player.epoch = header.epoch
        player.playedOut = max(player.playedOut, world.now) + span
        player.end = end
        if !player.isReporting {
            player.isReporting = true
            world.schedule.add(.reports(session: number, track: sid), at: world.now + .milliseconds(200))
        }
        players[sid] = player
    }

    /// Reports playout progress, every 200 ms while playing.
    func report(_ sid: TrackSID) {
        guard !isOver, let player = players[sid], let track = tracks[sid], track.participant != peer.identity else { return }
        let left = max(.zero, player.playedOut - world.now)
        let played = player.end.advanced(by: -Int(left.inMilliseconds) * MediaTime.ticksPerMillisecond)
        send(PlayoutProgress(track: sid, epoch: player.epoch, playedTs: played.ticks, bufferedMs: Double(left.inMilliseconds)))
        players[sid]?.isReporting = left > .zero
        if left > .zero { world.schedule.add(.reports(session: number, track: sid), at: world.now + .milliseconds(200)) }
    }

    private func send(_ progress: PlayoutProgress) {
        connection.send(.text(OutgoingRequest(.playoutProgress(progress)).bytes))
    }

    /// After a new subscription unplayed frames are received again.
    func forgetOrderIfResubscribed(_ sid: TrackSID) {
        if resubscribed.remove(sid) != nil { lastReceived[sid] = nil }
    }

    // MARK: Events

    /// Raises the known epoch of a track unless a later one is known.
    func raise(_ sid: TrackSID, to epoch: UInt8) {
        guard let known = epochs[sid], epoch &- known < 128, epoch != known else { return }
        epochs[sid] = epoch
        players[sid] = nil
        if let index = published.firstIndex(where: { $0.sid == sid }) { published[index].epoch = epoch }
        if tracks[sid]?.participant != peer.identity {
            send(PlayoutProgress(track: sid, epoch: epoch, playedTs: nil, bufferedMs: 0))
        }
    }

    func take(playout event: Event) {
        // The reply that names a track of its own may have been missed; `hello` contains it.
        let mayBeUnknown = isResumed && hello == nil
        switch event {
        case .playoutMarked(let sid, let name, _, _):
            world.expect(mayBeUnknown || published.contains { $0.sid == sid }, "\(self) receives a mark of a track it does not publish")
            world.expect(marks.remove(name) != nil, "\(self) receives mark \(name) twice")
        case .playoutCleared(let cut, _):
            world.expect(mayBeUnknown || tracks[cut.track] != nil, "\(self) receives an event of an unknown track: \(event)")
            playing.remove(cut.track)
            raise(cut.track, to: cut.epoch)
        case .playoutStarted(let sid, let identity, _, _):
            expectKnown(sid, of: identity, event)
            world.expect(playing.insert(sid).inserted, "\(self) receives `playout.started` of \(sid) twice")
        case .playoutFinished(let sid, let identity, _, _):
            expectKnown(sid, of: identity, event)
            world.expect(playing.remove(sid) != nil, "\(self) receives `playout.finished` of \(sid), which was not playing")
        case .playoutBacklog(let sid, _, _, _):
            world.expect(
                mayBeUnknown || published.contains { $0.sid == sid }, "\(self) receives `playout.backlog` of a track it does not publish")
        default: break
        }
    }
}
