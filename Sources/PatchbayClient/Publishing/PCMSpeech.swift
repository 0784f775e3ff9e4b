public import Audio
internal import Wire

/// Complete PCM as frames: one talkspurt, regardless of pauses. The first frame starts it, the last one ends it, and the voice bit marks voice in
/// between. Encodes lazily.
public struct PCMSpeech: ~Copyable {
    private static let samplesAtOnce = 50 * SpeechEncoder.samplesPerFrame

    private var encoder: SpeechEncoder
    private let samples: [Int16]
    private let step: Int
    private var position = 0
    private var ready: [SpokenFrame] = []
    private var isFirst = true
    private var isFinished = false

    /// - Parameter sound: at 1,000 to 768,000 Hz. Resampled to 48 kHz, and mixed to mono unless it has `settings.channels` channels.
    /// - Throws: `OpusError`, `ResamplerError`; `OpusError.channels` for stereo settings with mono PCM.
    public init(_ sound: PCMBuffer, settings: SpeechSettings = SpeechSettings()) throws {
        let mixed = sound.channels == settings.channels ? sound : sound.mixedToMono()
        guard mixed.channels == settings.channels else { throw OpusError.channels(sound.channels) }
        let samples = try mixed.resampled(to: SpeechEncoder.sampleRate).samples
        encoder = try SpeechEncoder(settings)
        self.samples = samples
        step = Self.samplesAtOnce * settings.channels
    }

    /// The codec's delay in 48 kHz ticks (RFC 7845 section 4.2).
    public var preSkip: Int { encoder.preSkip }

    /// Nil at the end.
    public mutating func next() throws(OpusError) -> SpokenFrame? {
        // Keeps one frame back, to know whether it is the last.
        while ready.count < 2, !isFinished { try encodeMore() }
        guard !ready.isEmpty else { return nil }
        var frame = ready.removeFirst()
        frame.flags.subtract([.talkspurtStart, .talkspurtEnd])
        if isFirst { frame.flags.insert(.talkspurtStart) }
        if ready.isEmpty { frame.flags.insert(.talkspurtEnd) }
        isFirst = false
        return frame
    }

    /// All remaining frames.
    public consuming func frames() throws(OpusError) -> [SpokenFrame] {
        var frames: [SpokenFrame] = []
        while let frame = try next() { frames.append(frame) }
        return frames
    }

    private mutating func encodeMore() throws(OpusError) {
        guard position < samples.count else {
            isFinished = true
            ready += try encoder.finish()
            return
        }
        let end = min(position + step, samples.count)
        ready += try encoder.encode(Array(samples[position..<end]))
        position = end
    }
}

/// Sends PCM on a track piece by piece in real time, from a microphone for example.
///
///     var source = try track.makePCMSource()
///     while let piece = microphone.read() { try await source.write(piece) }
///     try await source.finish()
///
/// A `TalkspurtDetector` sets the voice bit and the flags 0x80 and 0x40. Each frame is sent when it is due, so a file may be written as fast as
/// it is read. Belongs to one task.
public struct PCMSource: ~Copyable {
    private let track: LocalTrack
    private var encoder: SpeechEncoder
    private var pacer = Pacer()

    init(track: LocalTrack, settings: SpeechSettings) throws(OpusError) {
        self.track = track
        encoder = try SpeechEncoder(settings)
    }

    /// Encodes and sends samples; returns when all but the last frame of them was sent.
    ///
    /// - Parameter pcm: 48 kHz, interleaved if there are two channels; any number of samples.
    /// - Throws: `CancellationError`, `OpusError`, or `RequestFailure.ended` once the room has ended.
    public mutating func write(_ pcm: [Int16]) async throws {
        for frame in try encoder.encode(pcm) { try await track.send(frame, &pacer) }
    }

    /// Sends the remaining samples, and returns at their end. More may be written afterwards.
    public mutating func finish() async throws {
        for frame in try encoder.finish() { try await track.send(frame, &pacer) }
        if let end = pacer.end { try await MediaClock.sleep(until: end) }
    }
}
