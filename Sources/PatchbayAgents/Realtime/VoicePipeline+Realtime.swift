internal import Audio
internal import Logging
internal import PatchbayClient
internal import Wire

/// The pipeline's session with a realtime provider.
struct RealtimeVoice {
    let provider: any RealtimeProvider
    var exchange = RealtimeExchange()
    var speech = KeptSpeech()
    var session: (any RealtimeSession)?
    /// Opens the latest session and reads its events.
    var connection: Task<Void, Never>?
}

/// Speech to speech: users' utterances go to the provider's session, its responses to the output.
///
/// Turn-taking, transcripts and the conversation log are the same as with other providers.
extension VoicePipeline {
    /// Audio in one request.
    private static let requestSamplesMax = 5 * RealtimeConfiguration.sampleRate
    /// Providers refuse shorter turns.
    private static let turnSamplesMin = SpeechSegment.sampleRate / 10

    /// Feeds the exchange and performs its effects. Never suspends.
    func exchange(_ input: RealtimeExchange.Input) {
        var effects: [RealtimeExchange.Effect] = []
        realtime?.exchange.handle(input, at: MediaClock.now, into: &effects)
        for effect in effects { perform(effect) }
    }

    /// Opens the session once a user has come and the conversation so far is known, and lets time pass.
    func advanceRealtime() {
        if !dialogue.attendance.users.isEmpty, !dialogue.past.isPending { exchange(.began) }
        exchange(.tick)
    }

    func endRealtime() {
        realtime?.connection?.cancel()
        closeSession()
    }

    func requestSpeech(_ turn: TurnID) {
        // Without a record the turn was cancelled.
        if let record = dialogue.records[turn] { exchange(.respond(turn, record.messages)) }
    }

    private func perform(_ effect: RealtimeExchange.Effect) {
        let session = realtime?.session
        switch effect {
        case .open(let number): openSession(number)
        case .close: closeSession()
        case .sendHistory: sendHistory()
        case .append(let message): append(message)
        case .appendResult(let result): session?.append(toolResult: result.text, of: result.call)
        case .appendSpeech(let text): session?.append(assistantText: text)
        case .respond: session?.respond()
        case .cancel: session?.cancelResponse()
        case .truncate(let item, let played): session?.truncate(item: item, played: played)
        case .item(let turn): output?.submit(.sentence(turn, ""))
        case .text(let turn, let text):
            dialogue.stopwatches[turn]?.firstToken(at: MediaClock.now)
            output?.submit(.text(turn, text))
        case .audio(let turn, let samples):
            dialogue.stopwatches[turn]?.firstAudio(at: MediaClock.now)
            output?.submit(.audio(turn, SynthesizedSpeech(samples: samples, sampleRate: RealtimeConfiguration.sampleRate)))
        case .restart(let turn): output?.submit(.begin(turn))
        case .run(let turn, let calls): runTools(calls, of: turn)
        case .endCall(let turn): dialogue.endsAfter = turn
        case .complete(let turn): completed(turn)
        case .fail(let turn, let error):
            configuration.logger.warning("Response failed", metadata: ["turn": "\(turn.value)", "error": "\(error)"])
            handle(.responseFailed(turn))
        }
    }

    private func runTools(_ calls: [ToolCall], of turn: TurnID) {
        responses.start(turn) { [weak self] in
            await self?.run(calls, after: "", in: turn)
            await self?.finishedTools(calls, of: turn)
        }
    }

    private func finishedTools(_ calls: [ToolCall], of turn: TurnID) {
        let results = dialogue.records[turn]?.tools.last?.results ?? []
        exchange(.toolsFinished(turn, zip(calls, results).map { RealtimeExchange.ToolResult(call: $0.id, text: $1) }))
    }

    // MARK: The session

    private func openSession(_ number: Int) {
        guard let provider = realtime?.provider else { return }
        let configuration = RealtimeConfiguration(
            instructions: configuration.instructions, voice: configuration.definition.voice, tools: configuration.definition.tools,
            language: configuration.definition.language,
            userName: dialogue.attendance.users.count == 1
                ? dialogue.attendance.users.first.flatMap { dialogue.log.name(of: $0) } ?? "" : "")
        realtime?.connection = Task { [weak self] in
            let session: any RealtimeSession
            do { session = try await provider.open(configuration) } catch {
                await self?.failedToOpen(number, error)
                return
            }
            guard await self?.opened(session, number) == true else { return session.close() }
            do {
                for try await event in session.events { await self?.received(event, number) }
                await self?.lost(number, ProviderError(.disconnected, "the realtime session has ended"))
            } catch {
                await self?.lost(number, error)
            }
        }
    }

    /// - Returns: false if the session is of no use any more.
    private func opened(_ session: any RealtimeSession, _ number: Int) -> Bool {
        guard room != nil, !Task.isCancelled else { return false }
        realtime?.session = session
        exchange(.opened(session: number))
        return true
    }

    private func failedToOpen(_ number: Int, _ error: any Error) {
        guard !Task.isCancelled else { return }
        configuration.logger.warning("The realtime session cannot be opened", metadata: ["error": "\(error)"])
        exchange(.openingFailed(session: number, Self.providerError(error)))
    }

    private func received(_ event: RealtimeEvent, _ number: Int) {
        if case .error(let error) = event {
            configuration.logger.warning("A realtime request was refused", metadata: ["error": "\(error)"])
        }
        exchange(.received(session: number, event))
    }

    private func lost(_ number: Int, _ error: any Error) {
        guard !Task.isCancelled else { return }
        exchange(.lost(session: number, Self.providerError(error)))
    }

    private static func providerError(_ error: any Error) -> ProviderError {
        error as? ProviderError ?? ProviderError(.disconnected, "\(error)")
    }

    /// The reading task ends with the session.
    private func closeSession() {
        realtime?.session?.close()
        realtime?.session = nil
    }

    // MARK: What the provider hears

    /// Sends the conversation so far as text. Tools and their results are not part of it.
    private func sendHistory() {
        realtime?.speech.rewind()
        for message in dialogue.log.messages {
            switch message {
            case .user(let text): realtime?.session?.append(userText: text)
            case .digits(let digits): realtime?.session?.append(userText: ChatRequest.text(ofDigits: digits))
            case .assistant(let text, _): if !text.isEmpty { realtime?.session?.append(assistantText: text) }
            case .toolResult: break
            }
        }
    }

    /// Sends a message as it was said, or its text if it was written or its audio is not known.
    private func append(_ message: UserMessage) {
        guard let session = realtime?.session else { return }
        guard let samples = realtime?.speech.take(message), samples.count >= Self.turnSamplesMin, let pcm = Self.pcm(samples) else {
            return session.append(userText: message.kind == .digits ? ChatRequest.text(ofDigits: message.text) : message.text)
        }
        for start in stride(from: 0, to: pcm.count, by: Self.requestSamplesMax) {
            session.append(Array(pcm[start..<min(start + Self.requestSamplesMax, pcm.count)]))
        }
        session.commit()
    }

    /// At the provider's rate; nil if the resampler fails.
    private static func pcm(_ samples: [Float]) -> [Int16]? {
        let pcm = PCMBuffer(samples: samples.map { Int16(max(-1, min(1, $0)) * 32_767) }, sampleRate: SpeechSegment.sampleRate)
        return try? pcm.resampled(to: RealtimeConfiguration.sampleRate).samples
    }

    /// Follows an effect of turn-taking, before it is performed.
    func keepSpeech(of effect: TurnEffect) {
        guard realtime != nil else { return }
        switch effect {
        case .beginUtterance(let who, _): realtime?.speech.begin(who)
        case .settleAudio(let who):
            guard let microphone = microphone(of: who) else { return }
            let before = kept(by: microphone)
            microphone.settle()
            realtime?.speech.settle(Array(before.dropLast(kept(by: microphone).count)), of: who)
        case .transcript(let transcript): if transcript.isFinal { realtime?.speech.transcribed(transcript.text, of: transcript.speaker) }
        case .endUtterance(let who): realtime?.speech.end(microphone(of: who).map { kept(by: $0) }, of: who)
        default: break
        }
    }

    /// Forgets what needs no response any more.
    func settleKeptSpeech() {
        guard realtime != nil, machine.pending.isEmpty else { return }
        realtime?.speech.forget()
        exchange(.answered)
    }

    private func kept(by microphone: Microphone) -> [Float] {
        microphone.segment(isPartial: true, language: "", at: MediaClock.now).samples
    }
}
