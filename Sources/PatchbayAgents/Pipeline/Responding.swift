internal import Logging
internal import Wire

/// The assistant's turns: the task that speaks, what each turn adds to the conversation, how long it takes, and its transcript.
struct Responding {
    private let configuration: PipelineConfiguration
    /// Set while the pipeline runs, as is `output`.
    var room: (any AgentRoom)?
    var output: SpeechOutput?
    var log = ConversationLog()
    var transcripts = TranscriptRevisions()
    private(set) var cards = AssistantCards()
    /// Turns that were begun and are not in the log yet.
    private var records: [TurnID: TurnRecord] = [:]
    private var stopwatches: [TurnID: TurnStopwatch] = [:]
    private(set) var task: (turn: TurnID, task: Task<Void, Never>)?
    /// The latest abandoned turn, until what was heard of it is in the log.
    private(set) var abandonment: Task<Void, Never>?
    /// The call ends when everything of this turn was spoken.
    var endsAfter: TurnID?

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
        records[turn] = TurnRecord(messages: messages)
        stopwatches[turn] = end.map { TurnStopwatch(turn, $0) }
        output?.submit(.begin(turn))
        start(turn, work)
    }

    /// Replaces the task of the turn before.
    mutating func start(_ turn: TurnID, _ work: @escaping @Sendable () async -> Void) {
        cancelTask()
        task = (turn, Task { await work() })
    }

    mutating func cancelTask() {
        task?.task.cancel()
        task = nil
    }

    // MARK: Progress

    /// The user messages that a turn responds to; nil once the turn has ended.
    func messages(of turn: TurnID) -> [UserMessage]? { records[turn]?.messages }

    func conversation(for turn: TurnID) -> Conversation? {
        guard let record = records[turn] else { return nil }
        var log = log
        log.append(record)
        return Conversation(
            instructions: configuration.instructions, messages: log.messages, tools: configuration.definition.tools,
            language: configuration.definition.language,
            userName: record.messages.first.flatMap { log.name(of: $0.speaker) } ?? "", briefing: briefing.text)
    }

    /// What a model should know at this moment.
    var briefing: AnswerBriefing {
        let moment = configuration.clock.moment()
        return AnswerBriefing(date: moment.date, timeZone: moment.zone, interruptedAfter: log.interruptedAfter)
    }

    mutating func add(_ tools: TurnRecord.ToolEntry, to turn: TurnID) {
        records[turn]?.tools.append(tools)
    }

    mutating func show(_ card: AssistantCard) {
        cards.shown(card)
        room?.send(.card(card))
    }

    mutating func measure(_ turn: TurnID, _ note: (inout TurnStopwatch, Instant) -> Void) {
        guard var stopwatch = stopwatches[turn] else { return }
        note(&stopwatch, configuration.clock.now())
        stopwatches[turn] = stopwatch
    }

    mutating func publish(_ progress: SpeechProgress, of turn: TurnID) {
        let isOwn = records[turn]?.messages.isEmpty ?? false
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
        if task?.turn == turn { cancelTask() }
        records[turn] = nil
        stopwatches[turn] = nil
    }

    mutating func interrupt(_ turn: TurnID) {
        if task?.turn == turn { cancelTask() }
        stopwatches[turn]?.interrupted()
        reportMetrics(of: turn)
    }

    /// Discards what was not played, and passes on what was.
    mutating func abandon(_ turn: TurnID, _ take: @escaping @Sendable (HeardSpeech) async -> Void) {
        guard let output else { return }
        let (stream, sink) = AsyncStream.makeStream(of: HeardSpeech.self)
        output.submit(.abandon(turn, sink))
        let before = abandonment
        abandonment = Task {
            await before?.value
            await take(await stream.first { _ in true } ?? HeardSpeech())
        }
    }

    /// Adds a turn to the conversation.
    ///
    /// - Parameter isInterrupted: `heard` is not all of it.
    /// - Returns: whether the assistant said it on its own.
    mutating func record(_ turn: TurnID, heard: String, isInterrupted: Bool) -> Bool {
        guard var record = records.removeValue(forKey: turn) else { return false }
        // The text before tool calls is part of what was heard.
        for index in record.tools.indices { record.tools[index].text = "" }
        log.append(record)
        log.append(assistant: heard, isInterrupted: isInterrupted)
        return record.messages.isEmpty
    }

    /// Everything was played.
    mutating func finish(_ turn: TurnID) {
        reportMetrics(of: turn)
        if let segment = transcripts.complete(turn) { room?.publish(segment) }
    }

    private mutating func reportMetrics(of turn: TurnID) {
        guard let metrics = stopwatches.removeValue(forKey: turn)?.metrics else { return }
        room?.send(AssistantMessage.turnMetrics(metrics))
        configuration.onMetrics(metrics)
    }
}

/// The messages that a turn adds to the conversation when it ends.
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

/// Collects the times of a turn in progress.
struct TurnStopwatch: Sendable, Hashable {
    private let end: EndOfTurn
    private(set) var metrics: TurnMetrics

    init(_ turn: TurnID, _ end: EndOfTurn) {
        self.end = end
        metrics = TurnMetrics(
            turn: turn.value, endOfTurnMs: Int((end.decided - end.speechEnded).inMilliseconds),
            recognitionMs: end.recognition.map { Int($0.inMilliseconds) })
    }

    mutating func firstToken(at now: Instant) {
        if metrics.firstTokenMs == nil { metrics.firstTokenMs = Int((now - end.decided).inMilliseconds) }
    }

    mutating func firstAudio(at now: Instant) {
        if metrics.firstAudioMs == nil { metrics.firstAudioMs = Int((now - end.decided).inMilliseconds) }
    }

    mutating func playoutStarted(at now: Instant) {
        if metrics.voiceToVoiceMs == nil { metrics.voiceToVoiceMs = Int((now - end.speechEnded).inMilliseconds) }
    }

    mutating func interrupted() {
        metrics.interrupted = true
    }
}
