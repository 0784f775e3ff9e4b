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
    /// From this time after the first text on, speech may begin before the first clause is complete.
    private static let clausePatience = Duration.milliseconds(120)
    /// How long a filler waits for a user who speaks, before it tries again.
    private static let fillerRetry = Duration.milliseconds(100)

    let turn: TurnID
    let configuration: PipelineConfiguration
    let output: SpeechOutput
    let pipeline: VoicePipeline

    /// The neighbours of a piece of text that is synthesized by itself.
    private struct SpokenEdges: Sendable {
        /// Nothing was spoken in this round before.
        var isOpening = false
        /// The piece continues the sentence of the one before.
        var follows = false
        /// The next piece continues the sentence.
        var continues = false
    }

    private struct Round: Sendable {
        var text = ""
        var calls: [ToolCall] = []
    }

    /// Streams a response, running the tools that it calls, and fills the time until it is audible.
    func write() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await fill() }
            await respond()
            group.cancelAll()
        }
    }

    private func respond() async {
        do {
            var hasFailed = false
            for _ in 0..<Self.toolRoundsMax {
                let round = try await streamRound()
                if round.calls.isEmpty {
                    // The user must learn of the failure even if the responder does not mention it.
                    if hasFailed, round.text.allSatisfy(\.isWhitespace) {
                        try await announce(configuration.phrases.toolFailed, with: configuration.engines.announcer)
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

    /// Says that the response takes a moment if nothing of it is audible by then. Afterwards the turn is no longer one of which nothing was
    /// heard, so this also ends one that stays without a response.
    private func fill() async {
        let after = Duration.milliseconds(configuration.definition.fillerAfterMs)
        guard after > .zero, let end = await pipeline.update({ $0.turns.endOfTurn(turn) }) else { return }
        do {
            try await configuration.clock.sleep(end.decided + after - configuration.clock.now())
            guard await pipeline.update({ $0.turns.isSilent(turn) }) else { return }
            let filler = configuration.phrases.filler
            var speech: [SynthesizedSpeech] = []
            for try await piece in configuration.engines.announcer.synthesize(filler, voice: configuration.definition.voice) {
                speech.append(piece)
            }
            while !(await pipeline.fill(turn, with: filler, speech)) { try await configuration.clock.sleep(Self.fillerRetry) }
            let timeout = await pipeline.responseTimeout
            try await configuration.clock.sleep(end.decided + timeout - configuration.clock.now())
            await pipeline.expire(turn)
        } catch {
            // The response is there, the turn was cancelled, or it goes without a filler.
        }
    }

    /// Says sentences that need no responder.
    ///
    /// - Parameter synthesizer: nil is the announcer, for texts that are the same in many calls.
    func say(_ sentences: [String], with synthesizer: (any SpeechSynthesizer)? = nil) async {
        do {
            for sentence in sentences { try await announce(sentence, with: synthesizer ?? configuration.engines.announcer) }
            output.submit(.complete(turn))
        } catch {
            await pipeline.failed(turn, error)
        }
    }

    /// Speaks the parts of one request as they arrive.
    private func streamRound() async throws -> Round {
        guard let conversation = await pipeline.update({ $0.conversation(for: turn) }) else { throw CancellationError() }
        // Synthesis runs beside the response, so that neither waits for the other. The failure of one ends both at once.
        let (pieces, sink) = AsyncStream.makeStream(of: SentenceSplitter.Piece.self)
        return try await withThrowingTaskGroup(of: Round?.self) { group in
            group.addTask {
                var edges = SpokenEdges(isOpening: true)
                for await piece in pieces {
                    edges.continues = piece.continues
                    let text = SpokenText(piece.text, language: configuration.definition.language)
                    try await speak(text, with: configuration.engines.synthesizer, edges)
                    edges = SpokenEdges(follows: piece.continues)
                }
                return nil
            }
            group.addTask {
                defer { sink.finish() }
                return try await read(await pipeline.update { $0.response(to: conversation) }) { sink.yield($0) }
            }
            var round = Round()
            for try await result in group { if let result { round = result } }
            return round
        }
    }

    /// Reads one request's response, and passes each piece on as soon as it is complete.
    private func read(
        _ parts: AsyncThrowingStream<ResponsePart, any Error>, speak: @Sendable (SentenceSplitter.Piece) -> Void
    ) async throws -> Round {
        var round = Round()
        var splitter = SentenceSplitter(startsEarly: true)
        var began: Instant?
        for try await part in parts {
            switch part {
            case .text(let text):
                let now = configuration.clock.now()
                if round.text.isEmpty {
                    began = now
                    await pipeline.update { $0.measure(turn) { $0.firstToken(at: $1) } }
                }
                round.text += text
                guard round.text.count <= Self.charactersMax else {
                    throw ProviderError(.invalidResponse, "The response exceeds \(Self.charactersMax) characters.")
                }
                for piece in splitter.pieces(appending: text) { speak(piece) }
                if let began, now - began >= Self.clausePatience, let phrase = splitter.openingPhrase() { speak(phrase) }
            case .toolCall(let call): round.calls.append(call)
            case .schedule(let reminder): await pipeline.update { $0.schedule(reminder, in: turn) }
            case .cancelSchedule(let id): await pipeline.update { $0.cancelSchedule(id, in: turn) }
            case .endCall: await pipeline.update { $0.turns.last = turn }
            }
        }
        for piece in splitter.remainingPieces() { speak(piece) }
        return round
    }

    /// Says one of the assistant's own texts.
    private func announce(_ sentence: String, with synthesizer: any SpeechSynthesizer) async throws {
        try await speak(SpokenText(sentence, language: configuration.speech.announced), with: synthesizer)
    }

    /// Synthesizes a sentence or a clause and passes its audio on as it arrives, with the times of the written words. The transcript gets the
    /// written text.
    private func speak(_ text: SpokenText, with synthesizer: any SpeechSynthesizer, _ edges: SpokenEdges = SpokenEdges()) async throws {
        // Nothing but marks, such as the beginning of a code block.
        if text.isSilent { return }
        var times = SpokenWordTimes(text)
        var isFirst = true
        var silence: SynthesizedSpeech?
        var trimming = SpeechTrimming(start: edges.isOpening || edges.follows, end: edges.continues)
        for try await piece in synthesizer.synthesize(text.text, voice: configuration.definition.voice) {
            try Task.checkCancellation()
            let audio = trimming.process(times.written(piece))
            if isFirst, audio.samples.isEmpty {
                silence = piece
                continue
            }
            if isFirst {
                let lead = SpeechTrimming.leadingSilence(of: audio)
                await pipeline.update { $0.measure(turn) { $0.firstAudio(at: $1, after: lead) } }
                output.submit(.sentence(turn, text.written, continues: edges.follows))
                isFirst = false
            }
            output.submit(.audio(turn, audio))
        }
        try Task.checkCancellation()
        if let rest = times.rest { output.submit(.audio(turn, trimming.process(rest))) }
        if isFirst, let silence {
            // A text without a sound.
            await pipeline.update { $0.measure(turn) { $0.firstAudio(at: $1, after: silence.duration) } }
            output.submit(.sentence(turn, text.written, continues: edges.follows))
            output.submit(.audio(turn, silence))
        } else if isFirst {
            throw ProviderError(.invalidResponse, "The synthesizer returned no audio.")
        }
    }

    /// Runs tools, tells the users' clients about them, and adds them to the turn.
    ///
    /// - Parameter text: what the assistant said before it called them.
    /// - Returns: a result for each call.
    func run(_ calls: [ToolCall], after text: String = "") async -> [String] {
        var results: [String] = []
        for call in calls { results.append(await run(call)) }
        let entry = TurnRecord.ToolEntry(text: text, calls: calls, results: results)
        await pipeline.update { $0.turns[turn]?.tools.append(entry) }
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
