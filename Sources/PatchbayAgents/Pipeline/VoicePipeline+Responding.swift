internal import Logging
internal import PatchbayClient
internal import Wire

/// What a turn adds to the conversation, once it has ended.
struct TurnRecord: Sendable, Hashable {
    var messages: [UserMessage]
    /// Tool calls and their results, in order.
    var tools: [ToolEntry] = []

    struct ToolEntry: Sendable, Hashable {
        var text: String
        var calls: [ToolCall]
        var results: [String]
    }
}

/// Turns of the assistant.
extension VoicePipeline {
    /// Rounds of tool calls in one turn.
    private static let toolRoundsMax = 8
    /// Text of one turn.
    private static let charactersMax = 16_000

    func respond(_ turn: TurnID, _ messages: [UserMessage], _ end: EndOfTurn) {
        dialogue.records[turn] = TurnRecord(messages: messages)
        dialogue.stopwatches[turn] = TurnStopwatch(turn, end)
        output?.submit(.begin(turn))
        let before = abandonment
        responses.start(turn) { [weak self] in
            // The conversation includes what was heard of the turn before.
            await before?.value
            await self?.writeResponse(turn)
        }
    }

    /// Says sentences that are no response: a greeting, a question, an apology.
    func say(_ turn: TurnID, _ sentences: [String]) {
        dialogue.records[turn] = TurnRecord(messages: [])
        output?.submit(.begin(turn))
        responses.start(turn) { [configuration, weak self] in
            do {
                for sentence in sentences { try await self?.speak(sentence, in: turn, with: configuration.engines.announcer) }
                await self?.completed(turn)
            } catch {
                await self?.failed(turn, error)
            }
        }
    }

    func cancelResponse(_ turn: TurnID) {
        responses.cancel(turn)
        dialogue.records[turn] = nil
        dialogue.stopwatches[turn] = nil
        endOnboarding(turn, completed: false)
        abandonInOutput(turn)
    }

    func abandon(_ turn: TurnID) {
        responses.cancel(turn)
        dialogue.stopwatches[turn]?.interrupted()
        reportMetrics(of: turn)
        endOnboarding(turn, completed: false)
        abandonInOutput(turn)
    }

    private func abandonInOutput(_ turn: TurnID) {
        exchange(.abandoned(turn))
        guard let output else { return }
        let (stream, sink) = AsyncStream.makeStream(of: HeardSpeech.self)
        output.submit(.abandon(turn, sink))
        let before = abandonment
        abandonment = Task { [weak self] in
            await before?.value
            await self?.abandoned(turn, heard: await stream.first { _ in true } ?? HeardSpeech())
        }
    }

    // MARK: Writing

    /// Streams a response, running the tools that it calls.
    private func writeResponse(_ turn: TurnID) async {
        if realtime != nil { return requestSpeech(turn) }
        do {
            for _ in 0..<Self.toolRoundsMax {
                let calls = try await streamRound(of: turn)
                if calls.isEmpty { return completed(turn) }
                await run(calls.calls, after: calls.text, in: turn)
                try Task.checkCancellation()
            }
            throw ProviderError(.invalidResponse, "The responder called tools \(Self.toolRoundsMax) times in one turn.")
        } catch {
            failed(turn, error)
        }
    }

    private struct Round {
        var text = ""
        var calls: [ToolCall] = []
        var isEmpty: Bool { calls.isEmpty }
    }

    /// Speaks the parts of one request as they arrive.
    private func streamRound(of turn: TurnID) async throws -> Round {
        guard let conversation = conversation(for: turn) else { throw CancellationError() }
        // Synthesis runs beside the response, so that neither waits for the other.
        let (sentences, sink) = AsyncStream.makeStream(of: String.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await sentence in sentences { try await self.speak(sentence, in: turn, with: self.configuration.engines.synthesizer) }
            }
            var round = Round()
            var splitter = SentenceSplitter()
            for try await part in configuration.engines.responder.respond(to: conversation) {
                switch part {
                case .text(let text):
                    dialogue.stopwatches[turn]?.firstToken(at: MediaClock.now)
                    round.text += text
                    guard round.text.count <= Self.charactersMax else {
                        throw ProviderError(.invalidResponse, "The response exceeds \(Self.charactersMax) characters.")
                    }
                    for sentence in splitter.append(text) { sink.yield(sentence) }
                case .toolCall(let call): round.calls.append(call)
                case .endCall: dialogue.endsAfter = turn
                }
            }
            for sentence in splitter.finish() { sink.yield(sentence) }
            sink.finish()
            try await group.waitForAll()
            return round
        }
    }

    /// Synthesizes a sentence and passes its audio on as it arrives.
    private func speak(_ sentence: String, in turn: TurnID, with synthesizer: any SpeechSynthesizer) async throws {
        var isFirst = true
        for try await piece in synthesizer.synthesize(sentence, voice: configuration.definition.voice) {
            try Task.checkCancellation()
            if isFirst {
                dialogue.stopwatches[turn]?.firstAudio(at: MediaClock.now)
                output?.submit(.sentence(turn, sentence))
                isFirst = false
            }
            output?.submit(.audio(turn, piece))
        }
        try Task.checkCancellation()
        if isFirst { throw ProviderError(.invalidResponse, "The synthesizer returned no audio.") }
    }

    func completed(_ turn: TurnID) {
        output?.submit(.complete(turn))
    }

    private func failed(_ turn: TurnID, _ error: any Error) {
        // A cancelled turn is not a failure.
        guard !Task.isCancelled, !(error is CancellationError) else { return }
        configuration.logger.warning("Response failed", metadata: ["turn": "\(turn.value)", "error": "\(error)"])
        handle(.responseFailed(turn))
    }

    private func conversation(for turn: TurnID) -> Conversation? {
        guard let record = dialogue.records[turn] else { return nil }
        var log = dialogue.log
        log.append(record)
        return Conversation(
            instructions: configuration.instructions, messages: log.messages, tools: configuration.definition.tools,
            language: configuration.definition.language,
            userName: record.messages.first.flatMap { log.name(of: $0.speaker) } ?? "")
    }

    // MARK: Tools

    func run(_ calls: [ToolCall], after text: String, in turn: TurnID) async {
        var results: [String] = []
        for call in calls {
            guard let tool = configuration.definition.tools.first(where: { $0.name == call.name }) else {
                results.append("There is no tool named \(call.name).")
                continue
            }
            room?.send(AssistantMessage.toolStarted(id: call.id, name: call.name))
            switch await configuration.engines.tools.run(call, of: tool) {
            case .result(let result):
                room?.send(AssistantMessage.toolFinished(id: call.id, name: call.name))
                if let card = AssistantCards.card(in: result) { show(card) }
                results.append(result)
            case .failed(let message, let retry):
                room?.send(AssistantMessage.toolFailed(id: call.id, name: call.name, message: message, retry: retry))
                show(AssistantCards.failure(of: call, message, retry: retry))
                results.append("The tool failed: \(message)")
            }
        }
        dialogue.records[turn]?.tools.append(TurnRecord.ToolEntry(text: text, calls: calls, results: results))
    }

    private func show(_ card: AssistantCard) {
        dialogue.cards.shown(card)
        room?.send(.card(card))
    }

    // MARK: Ends

    /// Adds a turn to the conversation.
    private func abandoned(_ turn: TurnID, heard: HeardSpeech) {
        if let segment = dialogue.transcripts.abandon(turn) { room?.publish(segment) }
        record(turn, heard: heard.text)
        exchange(.heard(turn, heard.played))
    }

    private func record(_ turn: TurnID, heard: String) {
        guard var record = dialogue.records.removeValue(forKey: turn) else { return }
        // The text before tool calls is part of what was heard.
        for index in record.tools.indices { record.tools[index].text = "" }
        dialogue.log.append(record)
        dialogue.log.append(assistant: heard)
        if record.messages.isEmpty { exchange(.said(heard)) }
    }

    private func endOnboarding(_ turn: TurnID, completed: Bool) {
        if let message = dialogue.opening.ended(turn, completed: completed) { room?.send(message) }
    }

    func reportMetrics(of turn: TurnID) {
        guard let metrics = dialogue.stopwatches.removeValue(forKey: turn)?.metrics else { return }
        room?.send(AssistantMessage.turnMetrics(metrics))
        configuration.onMetrics(metrics)
    }

    // MARK: Reports of the output

    func take(_ report: SpeechOutput.Report) {
        switch report {
        case .started(let turn): handle(.speechStarted(turn))
        case .extended(let turn, let progress): publish(progress, of: turn)
        case .failed(let turn): handle(.responseFailed(turn))
        case .finished(let turn, let heard):
            record(turn, heard: heard)
            reportMetrics(of: turn)
            if let segment = dialogue.transcripts.complete(turn) { room?.publish(segment) }
            endOnboarding(turn, completed: true)
            handle(.speechFinished(turn))
            if dialogue.endsAfter == turn { hasEnded = true }
        }
    }

    private func publish(_ progress: SpeechProgress, of turn: TurnID) {
        // The turn may have ended meanwhile.
        guard dialogue.records[turn] != nil else { return }
        handle(.speaking(turn, text: progress.text))
        let segments = dialogue.transcripts.segments(
            of: turn, progress, track: room?.voiceTrack, language: configuration.definition.language)
        for segment in segments { room?.publish(segment) }
    }
}

extension ConversationLog {
    mutating func append(_ record: TurnRecord) {
        for message in record.messages { append(message) }
        for entry in record.tools {
            append(assistant: entry.text, toolCalls: entry.calls)
            for (call, result) in zip(entry.calls, entry.results) { append(result: result, of: call) }
        }
    }
}
