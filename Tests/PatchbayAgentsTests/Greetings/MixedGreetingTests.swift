import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// Greetings as they are on a gateway with a data folder: the sentences without the user's name are the gateway's clips, the others are
/// synthesized by the agent, at another sample rate.
@Suite(.timeLimit(.minutes(3)))
struct MixedGreetingTests {
    /// The built-in assistant's.
    private static let greetings = [
        "Hello {name}, this is Robin. How can I help you?", "Hi {name}, good to hear from you. What can I do for you?",
        "Welcome, {name}. I'm listening.",
    ]
    private static let names = ["Ann", "Bob Miller", "Chloé", "Đặng", "O'Neil"]

    /// A cache of its own for each call, with the clips that a fresh agent has got until the call begins.
    private static func engines(_ voice: String, clips count: Int) -> AgentEngines {
        let cache = SpeechCache()
        let tones = ToneSynthesizer()
        let announcer = CachedSynthesizer(synthesizer: tones, provider: nil, cache: cache)
        let definition = AssistantDefinition(id: "test", greetings: greetings, voice: voice)
        for text in GreetingPreparation.texts(of: definition).prefix(count) {
            let length = text.split(separator: " ").count * 9_600
            let pieces = stride(from: 0, to: length, by: 9_600).map { start in
                SynthesizedSpeech(samples: (start..<start + 9_600).map { $0 / 60 % 2 == 0 ? 5_000 : -5_000 }, sampleRate: 48_000)
            }
            cache.keep(pieces, of: announcer.key(of: text, voice: voice))
        }
        return AgentEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), responder: ScriptedResponder { _ in [] }, synthesizer: tones,
            announcer: announcer)
    }

    @Test("No greeting is cut, and no assistant apologizes", arguments: AssistantDefinition.voices)
    func everyNameIsGreeted(_ voice: String) async throws {
        let log = NotedLog()
        try await withThrowingDiscardingTaskGroup { group in
            for (index, name) in Self.names.enumerated() {
                group.addTask {
                    let definition = AssistantDefinition(
                        id: "test", greetings: [Self.greetings[index % Self.greetings.count]], voice: voice)
                    // From no clip at all to all of them.
                    let call = FakeCall(Self.engines(voice, clips: index * 2), definition: definition, userName: name, logger: log.logger)
                    try await call.run {
                        try await call.until { call.room.current.segments.last?.spoken == .completed }
                    }
                    let greeting = definition.greetings[0].replacing("{name}", with: name)
                    #expect(Set(call.room.current.segments.map(\.id)).count == 1)
                    #expect(call.room.current.segments.last?.text == greeting)
                }
            }
        }
        #expect(log.lines.isEmpty)
    }
}
