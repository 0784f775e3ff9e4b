import Synchronization
import Wire

@testable import PatchbayAgents

/// Detects speech by level: the tests' users speak tones.
struct LevelDetectors: VoiceActivityDetectorFactory {
    final class Detector: VoiceActivityDetector {
        let windowSize = 512

        func probability(of window: [Float]) -> Float {
            let energy = window.reduce(0) { $0 + $1 * $1 } / Float(window.count)
            return energy > 0.001 ? 0.95 : 0.02
        }
    }

    func makeDetector() -> any VoiceActivityDetector { Detector() }
}

/// Recognizes utterances in the order of a script. The number of an utterance is that of its segment's start.
final class ScriptedRecognizer: SpeechRecognizer {
    private let state: Mutex<(texts: [String], starts: [Instant], lengths: [Duration])>
    let fails: Bool

    init(_ texts: [String], fails: Bool = false) {
        state = Mutex((texts, [], []))
        self.fails = fails
    }

    /// The lengths of the final segments, in order.
    var lengths: [Duration] { state.withLock { $0.lengths } }

    func recognize(_ segment: SpeechSegment) -> AsyncThrowingStream<Recognition, any Error> {
        let text = state.withLock { state in
            if !segment.isPartial { state.lengths.append(segment.duration) }
            // All requests about one utterance have the same start.
            let index =
                state.starts.firstIndex(of: segment.start)
                ?? {
                    state.starts.append(segment.start)
                    return state.starts.count - 1
                }()
            return index < state.texts.count ? state.texts[index] : ""
        }
        return AsyncThrowingStream { stream in
            if fails { return stream.finish(throwing: ProviderError(.timeout, "scripted")) }
            stream.yield(Recognition(text: text))
            stream.finish()
        }
    }
}

/// Responds as a closure says, and keeps the conversations it was asked about.
final class ScriptedResponder: Responder {
    private let asked = Mutex<[Conversation]>([])
    private let script: @Sendable (Conversation) throws -> [ResponsePart]
    let isWorthPreparing = false

    init(_ script: @escaping @Sendable (Conversation) throws -> [ResponsePart]) {
        self.script = script
    }

    var conversations: [Conversation] { asked.withLock { $0 } }

    func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
        asked.withLock { $0.append(conversation) }
        return AsyncThrowingStream { stream in
            do {
                for part in try script(conversation) { stream.yield(part) }
                stream.finish()
            } catch {
                stream.finish(throwing: error)
            }
        }
    }
}

/// Speaks a tone, 200 ms for each word, with the words' times.
struct ToneSynthesizer: SpeechSynthesizer {
    static let word = Duration.milliseconds(200)
    var fails = false

    func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
        AsyncThrowingStream { stream in
            if fails { return stream.finish(throwing: ProviderError(.unavailable, "scripted")) }
            let words = text.split(separator: " ").enumerated().map { index, word in
                TimedWord(String(word), start: Self.word * index, end: Self.word * (index + 1))
            }
            let count = words.count * 24_000 / 5
            let tone = (0..<count).map { Int16($0 / 30 % 2 == 0 ? 5_000 : -5_000) }
            stream.yield(SynthesizedSpeech(samples: tone, sampleRate: 24_000, words: words))
            stream.finish()
        }
    }
}

/// Speaks like `ToneSynthesizer`, and notes the texts.
final class NotingSynthesizer: SpeechSynthesizer {
    private let noted = Mutex<[String]>([])
    private let tones: ToneSynthesizer

    init(fails: Bool = false) {
        tones = ToneSynthesizer(fails: fails)
    }

    var texts: [String] { noted.withLock { $0 } }

    func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
        noted.withLock { $0.append(text) }
        return tones.synthesize(text, voice: voice)
    }
}
