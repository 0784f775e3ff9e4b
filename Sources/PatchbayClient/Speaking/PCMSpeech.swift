public import Audio
internal import Wire

/// A sound that is there as a whole, as frames to be sent: one talkspurt, whatever pauses are in it. The first frame starts it, the
/// last one ends it, and the voice bit says where there is voice in between. Encoded as it is asked for.
public struct PCMSpeech: ~Copyable {
    private static let samplesAtOnce = 50 * SpeechEncoder.samplesPerFrame

    private var encoder: SpeechEncoder
    private let samples: [Int16]
    private let step: Int
    private var position = 0
    private var ready: [SpokenFrame] = []
    private var isFirst = true
    private var isFinished = false

    /// - Parameters:
    ///   - sound: any rate from 1,000 to 768,000 Hz; it is resampled to 48 kHz, and mixed to mono unless its channels are
    ///     `settings.channels`.
    /// - Throws: `OpusError`, `ResamplerError`; `OpusError.channels` for stereo settings with a sound that is not.
    public init(_ sound: PCMBuffer, settings: SpeechSettings = SpeechSettings()) throws {
        let mixed = sound.channels == settings.channels ? sound : sound.mixedToMono()
        guard mixed.channels == settings.channels else { throw OpusError.channels(sound.channels) }
        let samples = try mixed.resampled(to: SpeechEncoder.sampleRate).samples
        encoder = try SpeechEncoder(settings)
        self.samples = samples
        step = Self.samplesAtOnce * settings.channels
    }

    /// 48 kHz ticks by which decoded sound lags behind what went in.
    public var preSkip: Int { encoder.preSkip }

    /// Nil at the end.
    public mutating func next() throws(OpusError) -> SpokenFrame? {
        // One is kept back, until it is known whether it is the last.
        while ready.count < 2, !isFinished { try encodeMore() }
        guard !ready.isEmpty else { return nil }
        var frame = ready.removeFirst()
        frame.flags.subtract([.talkspurtStart, .talkspurtEnd])
        if isFirst { frame.flags.insert(.talkspurtStart) }
        if ready.isEmpty { frame.flags.insert(.talkspurtEnd) }
        isFirst = false
        return frame
    }

    /// All that is left.
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
