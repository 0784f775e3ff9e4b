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
    /// - Parameters:
    ///   - channels: 1, or 2 interleaved.
    ///   - jitter: how long to wait for late frames.
    public func pcm(of track: TrackSID, channels: Int = 1, jitter: JitterLimits = JitterLimits()) -> AsyncStream<PCMChunk> {
        let reader = PCMReader(channels: channels, jitter: jitter)
        door.post(.listen(track, .inbox(reader.inbox)))
        return AsyncStream {
            await reader.next()
        } onCancel: {
            reader.inbox.abandon()
        }
    }
}
