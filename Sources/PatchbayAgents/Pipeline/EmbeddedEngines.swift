public import Logging
public import Wire

/// The embedded engines, loaded once and shared by all calls of a process.
public struct EmbeddedEngines: Sendable {
    private let detector: any VoiceActivityDetectorFactory
    private let recognizer: any SpeechRecognizer
    private let synthesizer: any SpeechSynthesizer

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

    /// The engines of an assistant: the providers that it names, and the embedded ones for the others.
    ///
    /// - Parameter tools: runs the assistant's tools.
    /// - Throws: `ProviderError` if a provider's settings are invalid.
    public func engines(for assistant: AssistantDefinition, tools: any ToolRunner = NoTools()) throws -> AgentEngines {
        guard assistant.providers.realtime == nil else {
            throw ProviderError(.unavailable, "A pipeline for `providers.realtime` does not exist yet; configure the other providers.")
        }
        return AgentEngines(
            detector: detector, recognizer: try assistant.providers.recognizer.map { try OpenAIRecognizer($0) } ?? recognizer,
            responder: try assistant.providers.responder.map { try OpenAIResponder($0) } ?? RulesResponder(name: assistant.name),
            synthesizer: try assistant.providers.synthesizer.map { try OpenAISynthesizer($0) } ?? synthesizer, tools: tools)
    }
}
