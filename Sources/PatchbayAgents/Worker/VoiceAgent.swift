public import Logging
public import PatchbayClient
public import Wire

/// Converses in the rooms of a worker's jobs, with the embedded engines or the providers that the assistant names.
///
///     let agent = VoiceAgent(engines: try await EmbeddedEngines.load(), tokens: tokens)
///     let worker = AgentWorker(settings: settings, tokens: tokens) { try await agent.converse($0) }
public struct VoiceAgent: Sendable {
    private let engines: EmbeddedEngines
    private let tokens: UserTokenSource
    private let logger: Logger

    public init(engines: EmbeddedEngines, tokens: @escaping UserTokenSource, logger: Logger = Logger(label: "patchbay.agent")) {
        self.engines = engines
        self.tokens = tokens
        self.logger = logger
    }

    /// Joins the room of a job and speaks with its users until the conversation is over.
    ///
    /// - Throws: `ConnectError` if the room cannot be joined, `ProviderError` if a provider's settings are invalid, `RequestFailure` if the
    ///   track cannot be published. Another worker then gets the job.
    public func converse(_ job: AgentJob) async throws {
        // All requests of the conversation belong to the trace of the request that dispatched the assistant.
        try await ConversationTrace.$current.withValue(TraceContext(traceparent: job.traceparent)) { try await converse(in: job) }
    }

    private func converse(in job: AgentJob) async throws {
        let definition = job.assistant ?? AssistantDefinition(id: job.assistantID)
        var logger = logger
        logger[metadataKey: "job"] = "\(job.id)"
        if let trace = ConversationTrace.current { logger[metadataKey: "trace"] = "\(trace.traceID)" }
        let engines = try engines.engines(for: definition, tools: GatewayToolRunner(job, tokens: tokens))
        let room = try await job.connect()
        let preferences = SpeechPreferences(room.hello)
        let speech = ConversationSpeech(definition, preferences, engines.languages)
        // Ends with the call at the latest; the next call prepares the remaining greetings.
        async let _: Void = self.engines.prepareGreetings(
            of: speech.definition, from: GatewayClips(url: job.url, trust: job.options.trust, tokens: tokens), logger: logger)
        logger.info(
            "joined",
            metadata: [
                "room": "\(job.room)", "attempt": .stringConvertible(job.attempt), "voice": "\(speech.definition.voice)",
                "language": "\(speech.definition.language)",
            ])
        let pipeline = VoicePipeline(
            definition, engines: engines, context: Self.context(of: room.hello.session, metadata: job.metadata), preferences: preferences,
            logger: logger
        ) { [logger] metrics in
            logger.info(
                "turn",
                metadata: ["turn": .stringConvertible(metrics.turn), "voice_to_voice_ms": .stringConvertible(metrics.voiceToVoiceMs ?? 0)])
            job.report(metrics)
        }
        do {
            try await pipeline.run(in: room, continues: job.attempt > 1)
        } catch {
            await room.leave()
            throw error
        }
        await room.leave()
        logger.info("left")
    }

    /// A description of the session for the responder.
    static func context(of session: SessionBriefing?, metadata: String) -> String {
        var parts: [String] = []
        if !metadata.isEmpty { parts.append("Task: \(metadata)") }
        if let client = session?.clientContext { parts.append("What the user's app shows: \(client)") }
        for past in session?.pastSummaries ?? [] { parts.append("Earlier conversation, \(past.title): \(past.summary)") }
        return parts.joined(separator: "\n")
    }
}

/// The trace of the conversation that the current task belongs to.
enum ConversationTrace {
    @TaskLocal static var current: TraceContext?

    /// The header field `traceparent` of a request, with a span of its own.
    static var traceparent: String? { current?.withNewSpan.traceparent }
}

/// Runs an assistant's tools through its gateway, which signs the requests to them (docs/protocol/assistants.md, "Tools").
public struct GatewayToolRunner: ToolRunner {
    private let job: AgentJob
    private let tokens: UserTokenSource

    /// - Parameter tokens: returns a currently valid token of the assistant.
    public init(_ job: AgentJob, tokens: @escaping UserTokenSource) {
        self.job = job
        self.tokens = tokens
    }

    public func run(_ call: ToolCall, of tool: AssistantTool) async -> ToolOutcome {
        do {
            let body = Body(arguments: call.arguments, room: job.room, callId: job.call?.text)
            var gateway = try GatewayAdministrator(
                url: job.url, token: try await tokens(), trust: job.options.trust,
                timeout: .milliseconds((tool.timeoutMs ?? 10_000) + 5_000))
            gateway.traceparent = ConversationTrace.traceparent
            let target = "/v1/assistants/\(job.assistantID)/tools/\(tool.name)"
            let response = try await gateway.post(target, body: try JSON.encode(body, names: .snakeCase))
            if response.status == 200 { return .result(try JSON.decode(Result.self, from: response.body, names: .snakeCase).body) }
            let failure = try JSON.decode(Failure.self, from: response.body, names: .snakeCase)
            return .failed(message: failure.message, retry: failure.retry ?? false)
        } catch {
            return .failed(message: "the gateway did not answer", retry: true)
        }
    }

    private struct Body: Encodable {
        var arguments: String
        var room: String
        var callId: String?
    }

    private struct Result: Decodable {
        var body: String
    }

    private struct Failure: Decodable {
        var message: String
        var retry: Bool?
    }
}
