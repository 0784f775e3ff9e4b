public import Logging
public import PatchbayClient
internal import Wire

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
        let definition = job.assistant ?? AssistantDefinition(id: job.assistantID)
        var logger = logger
        logger[metadataKey: "job"] = "\(job.id)"
        // Ends with the call at the latest; the next call prepares what is missing then.
        async let _: Void = self.engines.prepareGreetings(
            of: definition, from: GatewayClips(url: job.url, trust: job.options.trust, tokens: tokens), logger: logger)
        let engines = try engines.engines(for: definition, tools: GatewayToolRunner(job, tokens: tokens))
        let room = try await job.connect()
        logger.info("joined", metadata: ["room": "\(job.room)", "attempt": "\(job.attempt)"])
        let pipeline = VoicePipeline(
            definition, engines: engines, context: Self.context(of: room.hello.session, metadata: job.metadata), logger: logger
        ) { [logger] metrics in
            logger.info("turn", metadata: ["turn": "\(metrics.turn)", "voice_to_voice_ms": "\(metrics.voiceToVoiceMs ?? 0)"])
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

    /// What the responder is told about the session.
    static func context(of session: SessionBriefing?, metadata: String) -> String {
        var parts: [String] = []
        if !metadata.isEmpty { parts.append("Task: \(metadata)") }
        if let client = session?.clientContext { parts.append("What the user's app shows: \(client)") }
        for past in session?.pastSummaries ?? [] { parts.append("Earlier conversation, \(past.title): \(past.summary)") }
        return parts.joined(separator: "\n")
    }
}
