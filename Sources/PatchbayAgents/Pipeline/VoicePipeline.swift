public import Logging
internal import PatchbayClient
public import Wire

/// An assistant in one room: hears its users, responds, speaks, and yields when interrupted.
///
///     let room = try await RoomConnection.connect(url: url, token: token)
///     let pipeline = VoicePipeline(definition, engines: engines)
///     try await pipeline.run(in: room)
///
/// Decisions are those of `TurnMachine`; this actor feeds it and performs its effects. It ends when the users have left, the room has ended, or
/// the responder ends the call.
public actor VoicePipeline {
    let configuration: Configuration
    var machine: TurnMachine
    var dialogue: Dialogue
    /// The latest abandoned turn, until what was heard of it is in the log.
    var abandonment: Task<Void, Never>?
    var microphones: [TrackSID: Microphone] = [:]
    var hasEnded = false
    /// Set while the pipeline runs.
    var room: (any AgentRoom)?
    var output: SpeechOutput?
    var responses = ResponseTasks()
    /// Set if a realtime provider responds.
    var realtime: RealtimeVoice?

    /// The parameters of `init`.
    struct Configuration: Sendable {
        let definition: AssistantDefinition
        let engines: AgentEngines
        let phrases: AssistantPhrases
        /// The definition's, and the session's context.
        let instructions: String
        let logger: Logger
        /// Receives the metrics of each turn.
        let onMetrics: @Sendable (TurnMetrics) -> Void
    }

    /// - Parameters:
    ///   - context: appended to the definition's instructions: the session's context and earlier summaries.
    public init(
        _ definition: AssistantDefinition, engines: AgentEngines, context: String = "", settings: TurnSettings = TurnSettings(),
        phrases: AssistantPhrases = AssistantPhrases(), logger: Logger = Logger(label: "patchbay.agent"),
        onMetrics: @escaping @Sendable (TurnMetrics) -> Void = { _ in }
    ) {
        configuration = Configuration(
            definition: definition, engines: engines, phrases: phrases,
            instructions: [definition.instructions, context].filter { !$0.isEmpty }.joined(separator: "\n\n"), logger: logger,
            onMetrics: onMetrics)
        machine = TurnMachine(settings, at: MediaClock.now)
        dialogue = Dialogue(
            opening: AssistantOpening(greeting: definition.greetings.randomElement(), onboarding: definition.onboarding))
        realtime = engines.realtime.map { RealtimeVoice(provider: $0) }
    }

    // MARK: Decisions

    /// Feeds the turn machine and performs its effects. Never suspends, so that effects keep their order.
    func handle(_ input: TurnInput) {
        var effects: [TurnEffect] = []
        machine.handle(input, at: MediaClock.now, into: &effects)
        settleKeptSpeech()
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: TurnEffect) {
        keepSpeech(of: effect)
        switch effect {
        case .beginUtterance(let who, let leadIn): microphone(of: who)?.beginUtterance(leadIn: leadIn)
        case .recognize(let id, let who, let isPartial): recognize(id, who, isPartial: isPartial)
        case .cancelRecognition(let id): responses.cancel(id)
        case .settleAudio(let who): microphone(of: who)?.settle()
        case .endUtterance(let who): microphone(of: who)?.endUtterance()
        case .transcript(let transcript): publish(transcript)
        case .respond(let turn, let messages, let end): respond(turn, messages, end)
        case .cancelResponse(let turn): cancelResponse(turn)
        case .interrupt(let turn): output?.submit(.interrupt(turn))
        case .resumeSpeech(let turn): output?.submit(.resume(turn))
        case .abandonSpeech(let turn): abandon(turn)
        case .say(let turn, let phrase): say(turn, [configuration.phrases.text(of: phrase)])
        case .state(let state): room?.setState(state)
        }
    }

    func microphone(of user: Identity) -> Microphone? {
        microphones.values.first { $0.track.participant == user }
    }

    // MARK: Hearing

    func receive(_ frame: ReceivedFrame, of track: TrackSID) {
        guard let microphone = microphones[track] else { return }
        do { process(try microphone.receive(frame, at: MediaClock.now), of: microphone) } catch { fail(microphone, error) }
    }

    /// Lets time pass for users from whom no frames arrive, and for the machine.
    func tick() {
        for microphone in microphones.values {
            do { process(try microphone.advance(to: MediaClock.now), of: microphone) } catch { fail(microphone, error) }
        }
        handle(.tick)
    }

    private func process(_ windows: [Microphone.Window], of microphone: Microphone) {
        guard !windows.isEmpty else { return }
        let who = microphone.track.participant
        let now = MediaClock.now
        let reference = output?.reference.current(at: now)
        for var window in windows {
            if let reference { window.activity.isEcho = microphone.echo.isEcho(level: window.level, at: now, reference: reference) }
            handle(.window(who, window.activity, level: window.level))
        }
    }

    private func fail(_ microphone: Microphone, _ error: any Error) {
        configuration.logger.error("Voice activity detection failed", metadata: ["track": "\(microphone.track.sid)", "error": "\(error)"])
        microphones[microphone.track.sid] = nil
    }

    private func recognize(_ id: RecognitionID, _ who: Identity, isPartial: Bool) {
        guard let microphone = microphone(of: who) else { return }
        let segment = microphone.segment(isPartial: isPartial, language: configuration.definition.language, at: MediaClock.now)
        responses.start(id) { [configuration, weak self] in
            do {
                for try await result in configuration.engines.recognizer.recognize(segment) { await self?.handle(.recognized(id, result)) }
            } catch is CancellationError {
                return
            } catch {
                configuration.logger.warning("Recognition failed", metadata: ["error": "\(error)"])
                await self?.handle(.recognitionFailed(id))
            }
            await self?.recognitionEnded(id)
        }
    }

    private func recognitionEnded(_ id: RecognitionID) {
        responses.ended(id)
    }

    private func publish(_ transcript: UserTranscript) {
        let microphone = microphone(of: transcript.speaker)
        room?.publish(
            TranscriptSegment(
                id: "u\(transcript.utterance)-\(dialogue.transcripts.prefix)", rev: transcript.revision, role: .user,
                participant: transcript.speaker,
                track: microphone?.track.sid, text: transcript.text, final: transcript.isFinal,
                language: transcript.language.isEmpty ? configuration.definition.language : transcript.language,
                endTs: microphone?.position?.ticks))
    }
}

/// Tasks of recognitions and responses in progress. At most one response, and one recognition per user.
struct ResponseTasks {
    private var recognitions: [RecognitionID: Task<Void, Never>] = [:]
    private var response: (turn: TurnID, task: Task<Void, Never>)?

    mutating func start(_ id: RecognitionID, _ work: @escaping @Sendable () async -> Void) {
        recognitions[id] = Task { await work() }
    }

    mutating func cancel(_ id: RecognitionID) {
        recognitions.removeValue(forKey: id)?.cancel()
    }

    mutating func ended(_ id: RecognitionID) {
        recognitions[id] = nil
    }

    mutating func start(_ turn: TurnID, _ work: @escaping @Sendable () async -> Void) {
        response?.task.cancel()
        response = (turn, Task { await work() })
    }

    mutating func cancel(_ turn: TurnID) {
        guard response?.turn == turn else { return }
        response?.task.cancel()
        response = nil
    }

    mutating func cancelAll() {
        response?.task.cancel()
        for task in recognitions.values { task.cancel() }
        response = nil
        recognitions = [:]
    }
}
