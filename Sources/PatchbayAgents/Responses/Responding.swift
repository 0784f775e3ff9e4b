internal import Logging
internal import Wire

/// The assistant's turns: what they respond to and remember, and how they reach the users.
struct Responding {
    let configuration: PipelineConfiguration
    /// Set while the pipeline runs, as is `output`.
    var room: (any AgentRoom)?
    var output: SpeechOutput?
    var log = ConversationLog()
    var transcripts = TranscriptRevisions()
    private(set) var cards = AssistantCards()
    var schedule = Schedule()
    var turns = TurnsInProgress()
    var tasks = TurnTasks()
    private(set) var preparation = ResponsePreparation()

    init(_ configuration: PipelineConfiguration) {
        self.configuration = configuration
    }

    // MARK: Beginnings

    /// - Parameters:
    ///   - messages: what the turn responds to; empty for what the assistant says on its own.
    ///   - end: nil for a turn that is not measured.
    ///   - work: speaks the turn.
    mutating func begin(
        _ turn: TurnID, _ messages: [UserMessage], _ end: EndOfTurn?, _ work: @escaping @Sendable () async -> Void
    ) {
        preparation.claim(for: messages)
        turns.begin(turn, messages, end)
        output?.submit(.begin(turn))
        tasks.start(turn, work)
    }

    // MARK: Progress

    func conversation(for turn: TurnID) -> Conversation? { turns[turn].map(conversation(endingWith:)) }

    private func conversation(endingWith record: TurnRecord) -> Conversation {
        var log = log
        log.append(record)
        return Conversation(
            instructions: configuration.instructions, messages: log.messages, tools: configuration.definition.tools,
            language: configuration.definition.language,
            userName: record.messages.first.flatMap { log.name(of: $0.speaker) } ?? "",
            reminders: schedule.pending(at: configuration.clock.now()),
            briefing: briefing.text)
    }

    /// Requests the response that will probably be needed, or discards the one that was requested.
    ///
    /// - Parameter prospect: what the next turn will respond to, as far as is known; nil if it is not known.
    mutating func prepare(for prospect: [UserMessage]?) {
        let responder = configuration.engines.responder
        guard responder.isWorthPreparing, !preparation.isCurrent(for: prospect) else { return }
        if preparation.discard() {
            configuration.logger.debug("Prepared response discarded", metadata: ["discarded": "\(preparation.discarded)"])
        }
        guard let prospect else { return }
        preparation.begin(prospect, conversation(endingWith: TurnRecord(messages: prospect)), with: responder)
    }

    /// The parts of the responder's answer, which may have been requested before.
    mutating func response(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
        preparation.take(for: conversation) ?? configuration.engines.responder.respond(to: conversation)
    }

    /// The current briefing for a model.
    var briefing: AnswerBriefing {
        let moment = configuration.clock.moment()
        return AnswerBriefing(date: moment.date, timeZone: moment.zone, interruptedAfter: log.interruptedAfter)
    }

    mutating func show(_ card: AssistantCard) {
        cards.shown(card)
        room?.send(.card(card))
    }

    mutating func measure(_ turn: TurnID, _ note: (inout TurnStopwatch, Instant) -> Void) {
        let now = configuration.clock.now()
        turns.measure(turn) { note(&$0, now) }
    }

    mutating func publish(_ progress: SpeechProgress, of turn: TurnID) {
        let isOwn = turns[turn]?.messages.isEmpty ?? false
        let language = isOwn ? configuration.speech.announced : configuration.definition.language
        let segments = transcripts.segments(of: turn, progress, track: room?.voiceTrack, language: language)
        for segment in segments { room?.publish(segment) }
    }

    func logFailure(of turn: TurnID, _ cause: String) {
        configuration.logger.warning("Response failed", metadata: ["turn": "\(turn.value)", "error": "\(cause)"])
    }

    // MARK: Ends

    /// Nothing of the turn was audible, and nothing will be remembered of it.
    mutating func forget(_ turn: TurnID) {
        tasks.cancel(turn)
        preparation.release()
        restoreReminders(of: turns[turn])
        turns.forget(turn)
    }

    mutating func interrupt(_ turn: TurnID) {
        tasks.cancel(turn)
        turns.measure(turn) { $0.interrupted() }
        reportMetrics(of: turn)
    }

    /// Discards what was not played, and passes on what was.
    mutating func abandon(_ turn: TurnID, _ take: @escaping @Sendable (HeardSpeech) async -> Void) {
        guard let output else { return }
        let (stream, sink) = AsyncStream.makeStream(of: HeardSpeech.self)
        output.submit(.abandon(turn, sink))
        tasks.abandon(stream, take)
    }

    /// Adds a turn to the conversation.
    ///
    /// - Parameter isInterrupted: `heard` is not all of it.
    /// - Returns: whether the assistant said it on its own.
    mutating func record(_ turn: TurnID, heard: String, isInterrupted: Bool) -> Bool {
        carryOutChanges(of: turn)
        guard var record = turns.take(turn) else { return false }
        // The text before tool calls is part of what was heard.
        for index in record.tools.indices { record.tools[index].text = "" }
        log.append(record)
        log.append(assistant: record.response(in: heard), isInterrupted: isInterrupted)
        return record.messages.isEmpty
    }

    /// Everything was played.
    mutating func finish(_ turn: TurnID) {
        reportMetrics(of: turn)
        if let segment = transcripts.complete(turn) { room?.publish(segment) }
    }

    private mutating func reportMetrics(of turn: TurnID) {
        guard let metrics = turns.takeMetrics(of: turn) else { return }
        room?.send(AssistantMessage.turnMetrics(metrics))
        configuration.onMetrics(metrics)
    }
}
