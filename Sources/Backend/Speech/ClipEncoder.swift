internal import Audio
internal import Store
internal import Wire

/// Encodes generated speech as Ogg Opus.
enum ClipEncoder {
    static let mimeType = "audio/ogg"
    /// The longest clip; about twice the duration of the longest text.
    static let durationMax = Duration.seconds(600)
    private static let bitsPerSecond = 32_000
    private static let frameMilliseconds = 20
    /// After this many frames other tasks get their turn.
    private static let framesPerTurn = 100

    /// - Throws: `SpeechGenerationError` for audio that cannot be a clip; `CancellationError`.
    @concurrent
    static func encode(_ speech: GeneratedSpeech) async throws -> (audio: [UInt8], details: ClipDetails) {
        guard Resampler.sampleRates.contains(speech.sampleRate), !speech.samples.isEmpty else {
            throw SpeechGenerationError("the generator returned no audio", isRetryable: false)
        }
        let pcm = PCMBuffer(samples: speech.samples, sampleRate: speech.sampleRate)
        guard pcm.duration <= durationMax else { throw SpeechGenerationError("the audio is too long", isRetryable: false) }
        let rate = [8_000, 12_000, 16_000, 24_000].contains(speech.sampleRate) ? speech.sampleRate : 48_000
        let samples = try pcm.resampled(to: rate).samples

        var encoder = try OpusEncoder(sampleRate: rate, application: .voip, bitsPerSecond: bitsPerSecond)
        let preSkip = encoder.preSkip
        var writer = try OggOpusWriter(OpusHead(preSkip: preSkip))
        var audio = try writer.start()
        // The decoder drops `preSkip` ticks at the start, so as many follow at the end; the last frame is padded.
        let ticksPerSample = 48_000 / rate
        let ticks = preSkip + samples.count * ticksPerSample
        let samplesPerFrame = rate / 1_000 * frameMilliseconds
        let ticksPerFrame = samplesPerFrame * ticksPerSample
        let frames = (ticks + ticksPerFrame - 1) / ticksPerFrame
        for frame in 0..<frames {
            if frame.isMultiple(of: framesPerTurn) {
                try Task.checkCancellation()
                await Task.yield()
            }
            let piece = samples[min(frame * samplesPerFrame, samples.count)..<min((frame + 1) * samplesPerFrame, samples.count)]
            audio += try writer.append(encoder.encode(piece + Array(repeating: 0, count: samplesPerFrame - piece.count)))
        }
        audio += try writer.finish(trimmedTicks: frames * ticksPerFrame - ticks)
        let details = ClipDetails(mimeType: mimeType, durationMs: Int(pcm.duration.inMilliseconds), words: speech.words)
        return (audio, details)
    }
}
