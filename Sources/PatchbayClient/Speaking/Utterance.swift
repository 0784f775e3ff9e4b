public import Audio
internal import Wire

/// A sound that is there as a whole, as frames.
public enum Utterance {
    /// Encodes a sound as one talkspurt of 20 ms frames: the first carries 0x80 and the last 0x40, the voice bit says where there is voice in between.
    ///
    /// - Parameters:
    ///   - sound: any rate from 1,000 to 768,000 Hz; it is resampled to 48 kHz, and mixed to mono unless its channels are `settings.channels`.
    /// - Throws: `OpusError`, `ResamplerError`, or `OpusError.channels` for stereo settings with a sound that is not.
    public static func frames(of sound: PCMBuffer, settings: SpeechSettings = SpeechSettings()) throws -> [SpokenFrame] {
        let mixed = sound.channels == settings.channels ? sound : sound.mixedToMono()
        guard mixed.channels == settings.channels else { throw OpusError.channels(sound.channels) }
        var encoder = try SpeechEncoder(settings)
        var frames = try encoder.encode(mixed.resampled(to: SpeechEncoder.sampleRate).samples)
        frames += try encoder.finish()
        for index in frames.indices { frames[index].flags.subtract([.talkspurtStart, .talkspurtEnd]) }
        if let last = frames.indices.last {
            frames[0].flags.insert(.talkspurtStart)
            frames[last].flags.insert(.talkspurtEnd)
        }
        return frames
    }
}
