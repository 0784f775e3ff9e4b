public import Logging
public import PatchbayClient
public import Wire

/// An assistant in one room: hears its users, responds, speaks, and yields when interrupted.
///
///     let room = try await RoomConnection.connect(url: url, token: token)
///     let pipeline = VoicePipeline(definition, engines: engines)
///     try await pipeline.run(in: room)
///
/// Decisions are those of `TurnMachine`. This actor feeds it, and passes its effects to the parts that own the state of hearing
/// (`Listening`), of the assistant's turns (`Responding`) and of a realtime session (`RealtimeVoice`). It never suspends between an
/// input and its effects, so that they keep their order. It ends when the users have left, the room has ended, or the responder ends the call.
public actor VoicePipeline {
    /// How long the snapshot of the room's transcript takes after joining, at most.
    private static let snapshotSpan = Duration.milliseconds(250)
    /// How often time passes for the turn machine while nothing arrives.
    private static let tickInterval = Duration.milliseconds(40)

    let configuration: PipelineConfiguration
    var machine: TurnMachine
    var listening: Listening
    var responding: Responding
    /// Set if a realtime provider responds.
    var realtime: RealtimeVoice?
    var attendance = Attendance()
    /// The greeting and the onboarding.
    var opening: AssistantOpening
    /// The conversation before this pipeline joined.
    var past = PastConversation()
    var arrival = FirstArrival()
    var hasEnded = false

    /// - Parameters:
    ///   - context: appended to the definition's instructions: the session's context and earlier summaries.
    ///   - preferences: the voice and the language that the users have chosen.
    ///   - phrases: nil for those of the conversation's language.
    public init(
        _ definition: AssistantDefinition, engines: AgentEngines, context: String = "",
        preferences: SpeechPreferences = SpeechPreferences(), settings: TurnSettings = TurnSettings(), phrases: AssistantPhrases? = nil,
        logger: Logger = Logger(label: "patchbay.agent"), onMetrics: @escaping @Sendable (TurnMetrics) -> Void = { _ in }
    ) {
        let speech = ConversationSpeech(definition, preferences, engines.languages)
        self.init(
            PipelineConfiguration(
                speech: speech, engines: engines, phrases: phrases ?? AssistantPhrases(language: speech.announced),
                instructions: [definition.instructions, speech.instruction ?? "", context].filter { !$0.isEmpty }
                    .joined(separator: "\n\n"), logger: logger, clock: PipelineClock(), onMetrics: onMetrics), settings)
    }

    init(_ configuration: PipelineConfiguration, _ settings: TurnSettings) {
        self.configuration = configuration
        var settings = settings
        settings.pauses.usesTurnDetector = configuration.engines.turnDetector != nil
        if configuration.engines.realtime != nil { settings.continuation.isEnabled = false }
        machine = TurnMachine(settings, at: configuration.clock.now())
        listening = Listening(configuration)
        responding = Responding(configuration)
        realtime = configuration.engines.realtime.map { RealtimeVoice(provider: $0) }
        let definition = configuration.definition
        opening = AssistantOpening(greeting: definition.greetings.randomElement(), onboarding: definition.onboarding)
    }

    var now: Instant { configuration.clock.now() }

    // MARK: Running

    /// Speaks with the users of `room` until they have left, the room has ended, or the assistant ends the call. Waits 20 s for the first
    /// user, and for a user whose connection was lost.
    ///
    /// - Throws: `RequestFailure` if the track cannot be published.
    ///
    /// - Parameter continues: the assistant replaces one that was lost: it does not greet, remembers the room's transcript, and answers what
    ///   was not answered.
    public func run(in room: RoomConnection, continues: Bool = false) async throws {
        let joined = try await JoinedRoom(room)
        if continues {
            opening.omitGreeting()
            arrival.isWelcomed = true
            past.willContinue(at: now + Self.snapshotSpan)
        }
        attach(to: joined)
        async let events: Void = joined.follow { await self.take($0) }
        await run()
        joined.leave(reason: "the assistant has finished")
        await events
    }

    /// Prepares the pipeline for events of `room`.
    func attach(to room: some AgentRoom) {
        attendance.begin(at: now)
        if let limit = configuration.speech.limit {
            configuration.logger.warning(
                "The chosen language is beyond the assistant's engines",
                metadata: ["language": "\(limit.language)", "spoken": "\(limit.spoken)", "understood": "\(limit.understood)"])
        }
        responding.room = room
        responding.output = SpeechOutput(room: room, clock: configuration.clock) { [weak self] in await self?.take($0) }
    }

    /// Runs until the call has ended.
    func run() async {
        guard let output = responding.output else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await output.run() }
            while !hasEnded, !Task.isCancelled {
                tick()
                if attendance.isOver(at: now) { break }
                try? await configuration.clock.sleep(Self.tickInterval)
            }
            listening.cancelAll()
            responding.tasks.cancel()
            responding.prepare(for: nil)
            output.end()
        }
        realtime?.end()
        responding.room = nil
        responding.output = nil
    }

    /// The room has ended: so does the pipeline.
    func end() {
        hasEnded = true
    }

    /// Lets time pass for users from whom no frames arrive, for the machine, and for what waits for its moment.
    private func tick() {
        for input in listening.advance(at: now, responding.output?.reference) { handle(input) }
        machine.awaitsReminder = !responding.schedule.pending(at: now).isEmpty
        handle(.tick)
        greetAfterFirstWords()
        continueConversation()
        beginOnboarding()
        announceReminders()
        // A session is opened once a user has come and the conversation so far is known.
        if !attendance.users.isEmpty, !past.isPending { exchange(.began) }
        exchange(.tick)
    }

    // MARK: Decisions

    /// Feeds the turn machine and performs its effects. Never suspends.
    func handle(_ input: TurnInput) {
        var effects: [TurnEffect] = []
        machine.handle(input, at: now, into: &effects)
        if realtime != nil, machine.pending.isEmpty {
            realtime?.speech.forget()
            exchange(.answered)
        }
        for effect in effects { perform(effect) }
        if realtime == nil { responding.prepare(for: machine.prospect) }
    }

    private func perform(_ effect: TurnEffect) {
        switch effect {
        case .beginUtterance(let who, let leadIn):
            realtime?.speech.begin(who)
            listening.microphone(of: who)?.beginUtterance(leadIn: leadIn, at: now)
        case .continueUtterance(let who, let leadIn):
            listening.microphone(of: who)?.continueUtterance(leadIn: leadIn, at: now)
        case .recognize(let id, let who, let isPartial):
            listening.recognize(id, who, isPartial: isPartial) { [weak self] in await self?.recognized(id, $0) }
        case .judgeEnd(let id, let who, let silence):
            listening.judgeEnd(id, who, silence: silence) { [weak self] in await self?.recognized(id, $0) }
        case .cancelRecognition(let id): listening.cancel(id)
        case .settleAudio(let who): if let audio = listening.microphone(of: who)?.settle() { realtime?.speech.settle(audio, of: who) }
        case .endUtterance(let who):
            let audio = listening.microphone(of: who)?.endUtterance()
            realtime?.speech.end(audio, of: who)
        case .transcript(let transcript):
            if transcript.isFinal { realtime?.speech.transcribed(transcript.text, of: transcript.speaker) }
            responding.room?.publish(listening.segment(of: transcript, idSuffix: responding.transcripts.prefix))
        case .respond(let turn, let messages, let end):
            answerFirstWords()
            let before = responding.tasks.abandonment
            responding.begin(turn, messages, listening.heard(end, of: messages.last)) { [weak self] in
                // The conversation includes what was heard of the turn before.
                await before?.value
                await self?.writeResponse(turn)
            }
        case .cancelResponse(let turn):
            responding.forget(turn)
            abandon(turn)
        case .interrupt(let turn): responding.output?.submit(.interrupt(turn))
        case .resumeSpeech(let turn): responding.output?.submit(.resume(turn))
        case .retractLastMessage(let turn): responding.turns.retractLastMessage(of: turn)
        case .abandonSpeech(let turn):
            responding.interrupt(turn)
            abandon(turn)
        case .timedOut(let turn): logSilence(of: turn)
        case .say(let turn, let phrase):
            if phrase == .notUnderstood {
                configuration.logger.warning("An utterance was not understood: its recognition failed or took too long")
            }
            say(turn, [configuration.phrases.text(of: phrase)])
        case .state(let state): responding.room?.setState(state)
        }
    }

    // MARK: The room

    /// Takes an event of the room.
    func take(_ event: AgentRoomEvent) {
        switch event {
        case .userJoined(let who, let name): welcome(who, name: name)
        case .userLeft(let who, let mayReturn):
            for track in listening.tracks(of: who) { close(track) }
            attendance.leave(who, mayReturn: mayReturn, at: now)
        case .microphone(let track):
            guard listening.user(of: track.sid) == nil else { return }
            // One microphone per user: a newer one replaces it.
            for before in listening.tracks(of: track.participant) { close(before) }
            listening.open(track, at: now)
        case .frame(let track, let frame):
            if frame.isEarlier { arrival.firstWords?.heard(at: now) }
            for input in listening.receive(frame, of: track, at: now, responding.output?.reference) { handle(input) }
        case .microphonePaused(let track): if let who = listening.user(of: track) { handle(.microphoneEnded(who)) }
        case .microphoneEnded(let track): close(track)
        case .text(let who, let text): handle(.text(who, text))
        case .digits(let who, let digits): handle(.digits(who, digits))
        case .data(let who, AssistantMessage.topic, let text): take(text, from: who)
        case .data: break
        case .held(let held): handle(.held(held))
        case .playoutStarted: if let turn = machine.currentTurn { responding.measure(turn) { $0.playoutStarted(at: $1) } }
        case .playoutFinished(let end): responding.output?.submit(.playoutFinished(end))
        case .segment(let segment): if !responding.transcripts.revised(segment) { past.take(segment) }
        case .rejoined: responding.output?.submit(.rejoined)
        case .resumedWithLoss: responding.output?.submit(.resumedWithLoss)
        case .queueLost(let end): responding.output?.submit(.queueLost(end))
        case .ended: end()
        }
    }

    private func close(_ track: TrackSID) {
        guard let who = listening.user(of: track) else { return }
        handle(.microphoneEnded(who))
        listening.close(track)
    }

    private func recognized(_ id: RecognitionID, _ input: TurnInput?) {
        if let input { handle(input) } else { listening.ended(id) }
    }

    /// Takes a message of a user's client. Unknown ones are ignored.
    private func take(_ message: String, from who: Identity) {
        switch try? AssistantMessage(parsing: Array(message.utf8)) {
        case .cardAction(let action)?: if let choice = responding.cards.text(of: action) { handle(.text(who, choice)) }
        case .onboardingStart?:
            if let answer = opening.requestOnboarding() { responding.room?.send(answer) }
            beginOnboarding()
        default: break
        }
    }
}
