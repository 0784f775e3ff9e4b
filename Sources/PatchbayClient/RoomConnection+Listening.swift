public import Audio
public import Wire

extension RoomConnection {
    /// A track's frames as they come: in order, each once, without the ones that were lost.
    ///
    /// Each call makes a stream of its own, for one reader. Frames that came before the first call are in the first stream, if it
    /// is asked for within 2 s of sound. The stream ends when the track, or the room, does; a reconnect leaves a gap in it. A track
    /// that is not there gives a stream that ends at once.
    public func frames(of track: TrackSID) -> AsyncStream<ReceivedFrame> {
        let (stream, sink) = AsyncStream.makeStream(of: ReceivedFrame.self, bufferingPolicy: .bufferingNewest(StreamLimits.framesMax))
        door.post(.listen(track, .stream(sink)))
        return stream
    }

    /// A track as sound: decoded, in order, gaps concealed, late frames dropped; 20 ms at 48 kHz in each chunk.
    ///
    /// The stream keeps time: from the first frame on it gives one chunk every 20 ms, silence where the speaker pauses. It is
    /// driven by its reader: ask for the next chunk when the last one is played. One that stays away longer than a second misses
    /// what was meant for that time. Ends after the track or the room does, or when the reading task is cancelled.
    ///
    /// A live track is played with as small a delay as the path allows; it grows with the path's stalls and comes down again. A track
    /// that is sent ahead is played as soon as it comes; the gateway is told how far it has been heard, and when it is cleared it
    /// fades out within 10 ms.
    ///
    /// - Parameters:
    ///   - channels: 1, or 2 interleaved.
    ///   - jitter: how long to wait for late frames of a live track at the least.
    ///   - clock: tells how the playing goes, and is told what the output device still holds. One for each call.
    public func pcm(
        of track: TrackSID, channels: Int = 1, jitter: JitterLimits = JitterLimits(), clock: PlayoutClock = PlayoutClock()
    ) -> AsyncStream<PCMChunk> {
        let mode = snapshot.tracks.first { $0.sid == track }?.mode ?? .live
        // A lost packet shows by the one after it, and is repaired a round trip later.
        let stall = statistics.roundTrip.map { $0 + .milliseconds(20) } ?? .zero
        let reader = PCMReader(
            of: track, mode: mode, channels: channels, jitter: jitter, expectedStall: stall, clock: clock
        ) { [weak door] progress in
            door?.post(.tell(.playoutProgress(progress)))
        }
        door.post(.listen(track, .inbox(reader.inbox)))
        return AsyncStream {
            await reader.next()
        } onCancel: {
            reader.inbox.abandon()
        }
    }
}
