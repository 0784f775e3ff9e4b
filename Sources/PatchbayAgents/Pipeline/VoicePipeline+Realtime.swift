internal import Logging
internal import PatchbayClient
internal import Wire

/// A session with a realtime provider, if the pipeline has one.
extension VoicePipeline {
    /// Feeds the exchange with a realtime provider and performs its effects. Never suspends.
    func exchange(_ input: RealtimeExchange.Input) {
        var effects: [RealtimeExchange.Effect] = []
        realtime?.exchange.handle(input, at: now, into: &effects)
        for effect in effects { perform(effect) }
    }

    func perform(_ effect: RealtimeExchange.Effect) {
        let output = responding.output
        switch effect {
        case .open(let number):
            let user = attendance.users.count == 1 ? attendance.users.first : nil
            let configuration = RealtimeConfiguration(
                instructions: configuration.instructions, voice: configuration.definition.voice, tools: configuration.definition.tools,
                language: configuration.definition.language, userName: user.flatMap { responding.log.name(of: $0) } ?? "",
                briefing: responding.briefing.text)
            realtime?.connect(configuration) { [weak self] in await self?.take($0, ofSession: number) ?? false }
        case .sendHistory: realtime?.send(responding.log.messages)
        case .append(let message): realtime?.append(message)
        case .send(let request): realtime?.session?.send(request)
        case .close: realtime?.close()
        case .item(let turn): output?.submit(.sentence(turn, ""))
        case .text(let turn, let text):
            responding.measure(turn) { $0.firstToken(at: $1) }
            output?.submit(.text(turn, text))
        case .audio(let turn, let samples):
            let silence = SpeechTrimming.leadingSilence(
                of: SynthesizedSpeech(samples: samples, sampleRate: RealtimeConfiguration.sampleRate))
            responding.measure(turn) { $0.firstAudio(at: $1, after: silence) }
            output?.submit(.audio(turn, SynthesizedSpeech(samples: samples, sampleRate: RealtimeConfiguration.sampleRate)))
        case .restart(let turn): output?.submit(.begin(turn))
        case .run(let turn, let calls):
            let writer = writer(turn)
            responding.tasks.start(turn) { [weak self] in
                let results = await writer?.run(calls) ?? []
                await self?.exchange(
                    .toolsFinished(turn, zip(calls, results).map { RealtimeExchange.ToolResult(call: $0.id, text: $1) }))
            }
        case .endCall(let turn): responding.turns.last = turn
        case .complete(let turn): output?.submit(.complete(turn))
        case .fail(let turn, let error):
            responding.logFailure(of: turn, "\(error)")
            handle(.responseFailed(turn))
        }
    }

    /// - Returns: false if the session is of no use any more.
    func take(_ report: RealtimeVoice.Report, ofSession number: Int) -> Bool {
        guard responding.room != nil, !Task.isCancelled else { return false }
        switch report {
        case .opened(let session):
            realtime?.session = session
            exchange(.opened(session: number))
        case .notOpened(let error):
            configuration.logger.warning("The realtime session cannot be opened", metadata: ["error": "\(error)"])
            exchange(.openingFailed(session: number, error))
        case .event(let event):
            if case .error(let error) = event {
                configuration.logger.warning("A realtime request was refused", metadata: ["error": "\(error)"])
            }
            exchange(.received(session: number, event))
        case .lost(let error): exchange(.lost(session: number, error))
        }
        return true
    }
}
