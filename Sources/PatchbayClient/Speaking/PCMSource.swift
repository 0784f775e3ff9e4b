internal import Audio
internal import Wire

/// Speaks PCM on a track, piece by piece, at the pace of the clock. For a microphone, or whatever else goes on for long.
///
///     var source = try track.makePCMSource()
///     while let piece = microphone.read() { try await source.write(piece) }
///     try await source.finish()
///
/// Talkspurts are found in the sound itself (`TalkspurtDetector`): they set the voice bit and the flags 0x80 and 0x40. Each frame
/// leaves when it is due, so a file may be written as fast as it is read; a microphone is never waited for. Belongs to one task.
public struct PCMSource: ~Copyable {
    private let track: LocalTrack
    private var encoder: SpeechEncoder
    private var pacer = Pacer()

    init(track: LocalTrack, settings: SpeechSettings) throws(OpusError) {
        self.track = track
        encoder = try SpeechEncoder(settings)
    }

    /// Speaks the next samples; returns when all but the last piece of them has left.
    ///
    /// - Parameter pcm: 48 kHz, interleaved if there are two channels; any amount.
    /// - Throws: `CancellationError`, `OpusError`, or `RequestFailure.ended` when the room is over.
    public mutating func write(_ pcm: [Int16]) async throws {
        for frame in try encoder.encode(pcm) { try await track.send(frame, &pacer) }
    }

    /// Speaks what was held back, and returns when it would have been played. More may be written afterwards.
    public mutating func finish() async throws {
        for frame in try encoder.finish() { try await track.send(frame, &pacer) }
        if let end = pacer.end { try await MediaClock.sleep(until: end) }
    }
}
