public import Audio
public import Wire

/// Publishing and subscribing.
extension RoomConnection {
    /// Publishes a track. The other participants receive an event.
    ///
    /// - Parameters:
    ///   - name: for people, at most 256 bytes.
    ///   - source: the kind of source. Assistants speak with `.assistant`.
    ///   - mode: how the gateway queues the track's frames.
    ///   - frameMilliseconds: the duration of a packet: 2.5, 5, 10, 20, 40, 60, 80, 100 or 120.
    ///   - dtx: whether packets are omitted during silence.
    ///   - fec: whether packets carry in-band error correction.
    ///   - channels: 1 or 2.
    /// - Throws: `RequestFailure`.
    public func publish(
        name: String = "", source: TrackSource = .microphone, mode: TrackMode = .live, frameMilliseconds: Double = 20, dtx: Bool = false,
        fec: Bool = false, channels: Int = 1
    ) async throws(RequestFailure) -> LocalTrack {
        let description = PublishTrack(
            name: name, source: source, mode: mode, frameMs: frameMilliseconds, dtx: dtx, fec: fec, channels: channels)
        return try await handle.perform { $0.publish(description, $1) }
    }

    /// Subscribes to, or unsubscribes from, a track. Kept across reconnects as long as the track exists.
    public func subscribe(_ track: TrackSID, subscribed: Bool = true) async throws(RequestFailure) {
        let timeout = options.requestTimeout
        _ = try await handle.perform { (session, reply: RoomSession.Reply) in
            session.send(
                .subscribe(track, subscribed: subscribed), timeout: timeout, .subscriber(track, subscribed: subscribed, reply))
        }
    }

    /// A track's frames in order, each once, without the lost ones.
    ///
    /// Each call creates a stream for one reader. Frames that arrived before the first call are in the first stream, if it is requested
    /// within 2 s of audio. An agent that was asked for first receives what was said before it came (`ReceivedFrame.isEarlier`). The stream ends with the track or the room; a reconnect leaves a gap in it. The stream of an unknown track ends
    /// at once.
    public func frames(of track: TrackSID) -> AsyncStream<ReceivedFrame> {
        let (stream, sink) = AsyncStream.makeStream(of: ReceivedFrame.self, bufferingPolicy: .bufferingNewest(StreamLimits.framesMax))
        deliverFrames(of: track, to: .stream(sink))
        return stream
    }

    /// A track as PCM: decoded, in order, gaps concealed, late frames dropped; each chunk is 20 ms at 48 kHz.
    ///
    /// From the first frame on the stream yields one chunk every 20 ms, silence during pauses. The reader drives it: request the next chunk
    /// when the last one has been played. A reader that stays away longer than 1 s loses the audio of that time. The stream ends with the
    /// track or the room, or when the reading task is cancelled.
    ///
    /// A live track is played with the smallest delay that the path allows; the delay follows the path's jitter. An `ahead` track plays as
    /// soon as it arrives, its playout is reported to the gateway, and it fades out within 10 ms when it is cleared.
    ///
    /// - Parameters:
    ///   - channels: 1, or 2 interleaved.
    ///   - jitter: limits of the jitter buffer of a live track.
    ///   - clock: reports the playout, and accounts for audio buffered in the output device. One for each call.
    public func pcm(
        of track: TrackSID, channels: Int = 1, jitter: JitterLimits = JitterLimits(), clock: PlayoutClock = PlayoutClock()
    ) -> AsyncStream<PCMChunk> {
        let mode = snapshot.tracks.first { $0.sid == track }?.mode ?? .live
        // A lost packet is noticed with the next one and repaired a round trip later.
        let stall = statistics.roundTrip.map { $0 + .milliseconds(20) } ?? .zero
        let reader = PCMReader(
            of: track, mode: mode, channels: channels, jitter: jitter, expectedStall: stall, clock: clock
        ) { [weak handle] progress in
            handle?.submit { $0.notify(.playoutProgress(progress)) }
        }
        deliverFrames(of: track, to: .inbox(reader.inbox))
        return AsyncStream {
            await reader.next()
        } onCancel: {
            reader.inbox.abandon()
        }
    }

    private func deliverFrames(of track: TrackSID, to sink: FrameSink) {
        handle.submit {
            $0.remote.addSink(sink, to: track)
        } ended: {
            sink.finish()
        }
    }
}

/// Tracks of mode `ahead` (docs/protocol/media.md, "Queues and pacing").
extension RoomConnection {
    /// Discards what has not been played of a track: by its publisher on an interruption, or by a subscriber whose user asks for silence. All
    /// subscribers stop playing it. For a local track, use `LocalTrack.clear`.
    ///
    /// - Parameter reason: sent to the other participants.
    /// - Returns: what had been played.
    @discardableResult
    public func clear(_ track: TrackSID, reason: String? = nil) async throws(RequestFailure) -> ClearedPlayout {
        try ClearedPlayout(of: track, try await request(.playoutClear(track, reason: reason)), reason: reason)
    }

    /// Requests the event `playout.marked` for the moment when a track has been played up to `time`.
    ///
    /// - Parameter name: returned in the event.
    public func mark(_ track: TrackSID, at time: MediaTime, name: String) async throws(RequestFailure) {
        _ = try await request(.playoutMark(PlayoutMark(track: track, ts: time.ticks, name: name)))
    }
}

extension ClearedPlayout {
    /// Decodes the reply to `playout.clear`.
    init(of track: TrackSID, _ fields: ReplyFields, reason: String?) throws(RequestFailure) {
        guard let epoch = fields.epoch else { throw .badAnswer }
        let heard = HeardPosition(playedTs: fields.playedTs, playedMs: fields.playedMs ?? 0, isEstimated: fields.estimated ?? false)
        self.init(track: track, epoch: epoch, heard: heard, discardedMs: fields.discardedMs ?? 0, reason: reason)
    }
}
