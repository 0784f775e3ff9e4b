internal import Wire

/// Writes and speaks one turn: reads the responder, runs the tools that it calls, and sends the speech of each sentence to the output.
///
/// It works beside the pipeline, in a task that the pipeline cancels with the turn; what it submits afterwards is ignored by the output.
struct ResponseWriter: Sendable {
    /// Rounds of tool calls in one turn.
    private static let toolRoundsMax = 8
    /// Text of one turn.
    private static let charactersMax = 16_000
    /// The prefix of a failed tool's result, for the responder.
    private static let failed = "The tool failed: "

    let turn: TurnID
    let configuration: PipelineConfiguration
    let output: SpeechOutput
    let pipeline: VoicePipeline

    private struct Round: Sendable {
        var text = ""
        var calls: [ToolCall] = []
    }

    /// Streams a response, running the tools that it calls.
    func write() async {
        do {
            var hasFailed = false
            for _ in 0..<Self.toolRoundsMax {
                let round = try await streamRound()
                if round.calls.isEmpty {
                    // The user must learn of the failure even if the responder does not mention it.
                    if hasFailed, round.text.allSatisfy(\.isWhitespace) {
                        try await announce(configuration.phrases.toolFailed)
                    }
                    return output.submit(.complete(turn))
                }
                hasFailed = await run(round.calls, after: round.text).contains { $0.hasPrefix(Self.failed) }
                try Task.checkCancellation()
            }
            throw ProviderError(.invalidResponse, "The responder called tools \(Self.toolRoundsMax) times in one turn.")
        } catch {
            await pipeline.failed(turn, error)
        }
    }

    /// Says sentences that need no responder.
    func say(_ sentences: [String]) async {
        do {
            for sentence in sentences { try await announce(sentence) }
            output.submit(.complete(turn))
        } catch {
            await pipeline.failed(turn, error)
        }
    }

    /// Speaks the parts of one request as they arrive.
    private func streamRound() async throws -> Round {
        guard let conversation = await pipeline.update({ $0.conversation(for: turn) }) else { throw CancellationError() }
        // Synthesis runs beside the response, so that neither waits for the other. The failure of one ends both at once.
        let (sentences, sink) = AsyncStream.makeStream(of: String.self)
        return try await withThrowingTaskGroup(of: Round?.self) { group in
            group.addTask {
                for await sentence in sentences {
                    let text = SpokenText(sentence, language: configuration.definition.language)
                    try await speak(text, with: configuration.engines.synthesizer)
                }
                return nil
            }
            group.addTask {
                defer { sink.finish() }
                return try await read(configuration.engines.responder.respond(to: conversation)) { sink.yield($0) }
            }
            var round = Round()
            for try await result in group { if let result { round = result } }
            return round
        }
    }

    /// Reads one request's response, and passes each sentence on as soon as it is complete.
    private func read(
        _ parts: AsyncThrowingStream<ResponsePart, any Error>, speak: @Sendable (String) -> Void
    ) async throws -> Round {
        var round = Round()
        var splitter = SentenceSplitter()
        for try await part in parts {
            switch part {
            case .text(let text):
                if round.text.isEmpty { await pipeline.update { $0.measure(turn) { $0.firstToken(at: $1) } } }
                round.text += text
                guard round.text.count <= Self.charactersMax else {
                    throw ProviderError(.invalidResponse, "The response exceeds \(Self.charactersMax) characters.")
                }
                for sentence in splitter.append(text) { speak(sentence) }
            case .toolCall(let call): round.calls.append(call)
            case .endCall: await pipeline.update { $0.endsAfter = turn }
            }
        }
        for sentence in splitter.finish() { speak(sentence) }
        return round
    }

    /// Says one of the assistant's own texts.
    private func announce(_ sentence: String) async throws {
        try await speak(SpokenText(sentence, language: configuration.speech.announced), with: configuration.engines.announcer)
    }

    /// Synthesizes a text and passes its audio on as it arrives, with the times of the written words. The transcript gets the written text.
    private func speak(_ text: SpokenText, with synthesizer: any SpeechSynthesizer) async throws {
        // Nothing but marks, such as the beginning of a code block.
        if text.isSilent { return }
        var times = SpokenWordTimes(text)
        var isFirst = true
        for try await piece in synthesizer.synthesize(text.text, voice: configuration.definition.voice) {
            try Task.checkCancellation()
            if isFirst {
                await pipeline.update { $0.measure(turn) { $0.firstAudio(at: $1) } }
                output.submit(.sentence(turn, text.written))
                isFirst = false
            }
            output.submit(.audio(turn, times.written(piece)))
        }
        try Task.checkCancellation()
        if let rest = times.rest { output.submit(.audio(turn, rest)) }
        if isFirst { throw ProviderError(.invalidResponse, "The synthesizer returned no audio.") }
    }

    /// Runs tools, tells the users' clients about them, and adds them to the turn.
    ///
    /// - Parameter text: what the assistant said before it called them.
    /// - Returns: a result for each call.
    func run(_ calls: [ToolCall], after text: String = "") async -> [String] {
        var results: [String] = []
        for call in calls { results.append(await run(call)) }
        let entry = TurnRecord.ToolEntry(text: text, calls: calls, results: results)
        await pipeline.update { $0.add(entry, to: turn) }
        return results
    }

    private func run(_ call: ToolCall) async -> String {
        guard let tool = configuration.definition.tools.first(where: { $0.name == call.name }) else {
            return "There is no tool named \(call.name)."
        }
        await pipeline.update { $0.room?.send(.toolStarted(id: call.id, name: call.name)) }
        switch await configuration.engines.tools.run(call, of: tool) {
        case .result(let result):
            await pipeline.update { $0.room?.send(.toolFinished(id: call.id, name: call.name)) }
            if let card = AssistantCards.card(in: result) { await pipeline.update { $0.show(card) } }
            return result
        case .failed(let message, let retry):
            await pipeline.update {
                $0.room?.send(.toolFailed(id: call.id, name: call.name, message: message, retry: retry))
                $0.show(AssistantCards.failure(of: call, message, retry: retry, tryAgain: configuration.phrases.tryAgain))
            }
            return Self.failed + message
        }
    }
}
