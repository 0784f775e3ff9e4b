public import Logging
public import Wire

/// The embedded engines, loaded once and shared by all calls of a process.
public struct EmbeddedEngines: Sendable {
    private let detector: any VoiceActivityDetectorFactory
    private let recognizer: any SpeechRecognizer
    private let synthesizer: any SpeechSynthesizer
    /// The speech of greetings and other texts of the assistants' own.
    let cache = SpeechCache()

    init(detector: any VoiceActivityDetectorFactory, recognizer: any SpeechRecognizer, synthesizer: any SpeechSynthesizer) {
        self.detector = detector
        self.recognizer = recognizer
        self.synthesizer = synthesizer
    }

    /// Loads the models and warms them up: about two seconds.
    ///
    /// - Throws: `ProviderError` with code `unavailable` if a model is missing; its message says how to install it.
    public static func load(from models: ModelsFolder = .standard, logger: Logger = Logger(label: "patchbay.agent")) async throws -> Self {
        if let problem = models.problem { throw ProviderError(.unavailable, problem) }
        let synthesizer = EmbeddedSynthesizer(models: models, logger: logger)
        async let detector = SileroDetectorFactory(models: models)
        async let recognizer = MoonshineRecognizer(models: models)
        // The first synthesis of a process takes a second, which no user should wait for.
        for try await _ in synthesizer.synthesize("Hello.", voice: "alloy") {}
        return Self(detector: try await detector, recognizer: try await recognizer, synthesizer: synthesizer)
    }

    /// The engines of an assistant: the providers that it names, and the embedded ones for the others. A realtime provider also needs a
    /// recognizer, for turn-taking and transcripts, and a synthesizer, for what the assistant says on its own.
    ///
    /// - Parameter tools: runs the assistant's tools.
    /// - Throws: `ProviderError` if a provider's settings are invalid.
    public func engines(for assistant: AssistantDefinition, tools: any ToolRunner = NoTools()) throws -> AgentEngines {
        let announcer = try announcer(for: assistant)
        return AgentEngines(
            detector: detector, recognizer: try assistant.providers.recognizer.map { try OpenAIRecognizer($0) } ?? recognizer,
            responder: try assistant.providers.responder.map { try OpenAIResponder($0) } ?? RulesResponder(name: assistant.name),
            synthesizer: announcer.synthesizer, tools: tools, announcer: announcer,
            realtime: try assistant.providers.realtime.map { try OpenAIRealtime($0) })
    }

    private func announcer(for assistant: AssistantDefinition) throws -> CachedSynthesizer {
        let provider = assistant.providers.synthesizer
        return CachedSynthesizer(
            synthesizer: try provider.map { try OpenAISynthesizer($0) } ?? synthesizer, provider: provider, cache: cache)
    }

    /// Prepares the speech of a definition's greetings, so that calls need not wait for it.
    ///
    /// Returns when they are prepared, or soon after the task is cancelled. Calls synthesize anything that could not be prepared.
    ///
    /// - Parameter clips: used if the assistant speaks with the embedded synthesizer, whose voices the clips have.
    func prepareGreetings(of assistant: AssistantDefinition, from clips: (any SpeechClipSource)?, logger: Logger) async {
        guard !assistant.greetings.isEmpty, let announcer = try? announcer(for: assistant) else { return }
        let usesClips = assistant.providers.synthesizer == nil
        await GreetingPreparation(synthesizer: announcer, clips: usesClips ? clips : nil, logger: logger).prepare(assistant)
    }
}
