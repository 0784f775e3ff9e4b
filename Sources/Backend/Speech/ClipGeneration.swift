internal import Audio
internal import OggOpus
package import Store
internal import Synchronization
internal import Wire

/// Converts a whole text to speech, for clips. Thread-safe.
package protocol SpeechGenerator: Sendable {
    /// The providers that `generate` accepts, with distinct names; not empty. The first one is the default.
    var providers: [SpeechProvider] { get }

    /// Speaks a text of at most `SpeechService.textBytesMax` bytes.
    ///
    /// Must return soon after its task is cancelled.
    ///
    /// - Parameters:
    ///   - voice: one of the provider's.
    ///   - provider: the name of one of `providers`.
    ///   - progress: call with 0 to 100 as parts become available; from any thread.
    /// - Throws: `SpeechGenerationError`. Any other error counts as one that may pass.
    func generate(
        _ text: String, voice: String, provider: String, progress: @escaping @Sendable (_ percent: Int) -> Void
    ) async throws -> GeneratedSpeech
}

/// A speech provider for clips: a synthesizer on this machine, or a server.
package struct SpeechProvider: Sendable, Hashable {
    /// The name that requests use.
    package var name: String
    /// The voices; not empty. The first one is the default.
    package var voices: [String]

    package init(name: String, voices: [String] = AssistantDefinition.voices) {
        self.name = name
        self.voices = voices
    }

    /// The embedded synthesizer with its voices.
    package static let embedded = SpeechProvider(name: "embedded")
}

/// The audio of a text.
package struct GeneratedSpeech: Sendable {
    /// Mono.
    package var samples: [Int16]
    /// Hz.
    package var sampleRate: Int
    /// Nil if the provider has no word times.
    package var words: [SpokenWord]?

    package init(samples: [Int16], sampleRate: Int, words: [SpokenWord]? = nil) {
        self.samples = samples
        self.sampleRate = sampleRate
        self.words = words
    }
}

/// Why a text could not be spoken.
package struct SpeechGenerationError: Error, Sendable, Hashable {
    /// For the requester. Contains nothing of the text.
    package var message: String
    /// Whether another attempt may succeed.
    package var isRetryable: Bool

    package init(_ message: String, isRetryable: Bool) {
        self.message = message
        self.isRetryable = isRetryable
    }

    /// The failure that an error means for the requester; nil for an unexpected error.
    init?(known error: any Error) {
        switch error {
        case let error as SpeechGenerationError: self = error
        case let error as StoreError where error.isTemporary:
            self.init("the gateway's store is not available", isRetryable: true)
        default: return nil
        }
    }
}

/// Encodes generated speech as Ogg Opus.
enum ClipEncoder {
    static let mimeType = "audio/ogg"
    /// The longest clip; about twice the duration of the longest text.
    static let durationMax = Duration.seconds(600)
    private static let bitsPerSecond = 32_000
    private static let frameMilliseconds = 20
    /// After this many frames other tasks get their turn.
    private static let framesPerTurn = 100

    /// - Parameter progress: called with 0 to 100.
    /// - Throws: `SpeechGenerationError` for audio that cannot be a clip; `CancellationError`.
    @concurrent
    static func encode(
        _ speech: GeneratedSpeech, progress: (_ percent: Int) -> Void
    ) async throws -> (audio: [UInt8], details: ClipDetails) {
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
                progress(frame * 100 / frames)
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

/// Records the course of a clip's generation in time.
final class ClipCourse: Sendable {
    private let began = ContinuousClock.now
    private let steps = Mutex<[ClipGeneration.Step]>([])

    private var elapsedMs: Int { Int((ContinuousClock.now - began).inMilliseconds) }

    /// Ignored unless it is more than before, so that there are at most a hundred steps.
    func note(_ percent: Int) {
        let now = elapsedMs
        steps.withLock { steps in
            guard 1...100 ~= percent, percent > steps.last?.percent ?? 0 else { return }
            steps.append(ClipGeneration.Step(percent, atMs: now))
        }
    }

    /// The course up to now.
    var generation: ClipGeneration { ClipGeneration(steps: steps.withLock { $0 }, totalMs: elapsedMs) }
}

extension ClipGeneration {
    /// No two generations of a text take exactly as long.
    private static let variation = 0.9...1.1

    /// Takes this course again, a little faster or slower, without doing anything.
    ///
    /// - Throws: `CancellationError`.
    func repeated(progress: (Int) -> Void) async throws {
        let (began, pace) = (ContinuousClock.now, Double.random(in: Self.variation))
        for step in steps {
            try await Task.sleep(until: began + .milliseconds(step.atMs) * pace)
            progress(step.percent)
        }
        try await Task.sleep(until: began + .milliseconds(totalMs) * pace)
    }
}
