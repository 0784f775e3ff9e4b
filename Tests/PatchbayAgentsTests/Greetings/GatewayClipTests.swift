import Audio
import Backend
import Identity
import Logging
import PatchbayClient
import Store
import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// Greetings from the speech clips of a real gateway.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct GatewayClipTests {
    /// Speaks each text as one second of a tone, with two words.
    private final class ToneGenerator: SpeechGenerator {
        let providers = [SpeechProvider.embedded]
        private let noted = Mutex<[String]>([])
        var texts: [String] { noted.withLock { $0 } }

        func generate(
            _ text: String, voice: String, provider: String, progress: @escaping @Sendable (_ percent: Int) -> Void
        ) async throws -> GeneratedSpeech {
            noted.withLock { $0.append(text) }
            if text.contains("unspeakable") { throw SpeechGenerationError("scripted", isRetryable: false) }
            let samples = (0..<24_000).map { Int16($0 / 30 % 2 == 0 ? 5_000 : -5_000) }
            let words = [SpokenWord("Good", startMs: 0, endMs: 500), SpokenWord("day.", startMs: 500, endMs: 1_000)]
            return GeneratedSpeech(samples: samples, sampleRate: 24_000, words: words)
        }
    }

    private static let definition = AssistantDefinition(id: "helper", greetings: ["Good day."])

    private static func clips(of node: WorkerGateway) -> GatewayClips {
        GatewayClips(url: node.url, trust: WorkerGateway.options.trust) { try WorkerGateway.assistantToken("helper") }
    }

    @Test func aClipHasTheSamplesAndWordsOfItsText() async throws {
        let generator = ToneGenerator()
        try await WorkerGateway.run(withStore: true, speech: generator) { node in
            let pieces = try await Self.clips(of: node).clip(of: "Good day.", voice: "alloy")
            #expect(pieces.count == 5 && pieces.allSatisfy { $0.sampleRate == 48_000 && $0.samples.count == 9_600 })
            #expect(pieces.allSatisfy { $0.samples.contains { abs(Int($0)) > 2_000 } })
            #expect(pieces.map { $0.words?.map(\.text) } == [["Good"], [], ["day."], [], []])
            #expect(pieces[2].words?.first == TimedWord("day.", start: .milliseconds(500), end: .seconds(1)))
            // The second time, nothing is generated.
            #expect(try await Self.clips(of: node).clip(of: "Good day.", voice: "alloy") == pieces)
            #expect(generator.texts == ["Good day."])
        }
    }

    @Test func aClipThatCannotBeMadeIsAnError() async throws {
        try await WorkerGateway.run(withStore: true, speech: ToneGenerator()) { node in
            await #expect(throws: ProviderError.self) { try await Self.clips(of: node).clip(of: "unspeakable", voice: "alloy") }
        }
    }

    @Test(arguments: [true, false])
    func withoutASpeechServiceTheWorkerSynthesizes(hasStore: Bool) async throws {
        try await WorkerGateway.run(withStore: hasStore) { node in
            let tones = NotingSynthesizer()
            let cache = SpeechCache()
            let preparation = GreetingPreparation(
                synthesizer: CachedSynthesizer(synthesizer: tones, provider: nil, cache: cache), clips: Self.clips(of: node),
                localAfter: .zero, logger: Logger(label: "test"))
            await preparation.prepare(Self.definition)
            #expect(tones.texts == ["Good day."] && cache.count == 1)
        }
    }

    @Test func aCallBeginsWithTheClipOfItsGreeting() async throws {
        let generator = ToneGenerator()
        // The worker itself cannot speak, so what is heard is the clip.
        let engines = EmbeddedEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), synthesizer: ToneSynthesizer(fails: true))
        try await WorkerGateway.run(withStore: true, speech: generator, definition: { $0 == "helper" ? Self.definition : nil }) { node in
            let agent = VoiceAgent(engines: engines, tokens: { try WorkerGateway.assistantToken("helper") })
            let worker = try await TestWorker(node, handler: { try await agent.converse($0) }).registered()
            let first = try await node.join("ann", "first", agents: [TokenAgent(agentName: "helper")])
            try await eventually("the clip") { engines.cache.count == 1 }

            let second = try await node.join("bob", "second", agents: [TokenAgent(agentName: "helper")])
            let words = try await second.first { event -> [String]? in
                guard case .gateway(.segment(let segment), _) = event, segment.spoken == .completed else { return nil }
                return segment.words?.map(\.text) ?? []
            }
            #expect(words == ["Good", "day."] && generator.texts == ["Good day."])
            await first.leave()
            await second.leave()
            try await worker.stop()
        }
    }
}
