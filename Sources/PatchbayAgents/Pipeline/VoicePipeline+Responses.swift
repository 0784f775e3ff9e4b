internal import Logging
internal import PatchbayClient
internal import Wire

/// The assistant's turns: who writes them, how they end, and what was heard of them.
extension VoicePipeline {
    func writer(_ turn: TurnID) -> ResponseWriter? {
        responding.output.map { ResponseWriter(turn: turn, configuration: configuration, output: $0, pipeline: self) }
    }

    func writeResponse(_ turn: TurnID) async {
        guard realtime != nil else {
            await writer(turn)?.write()
            return
        }
        // Without messages the turn was cancelled.
        if let messages = responding.turns[turn]?.messages { exchange(.respond(turn, messages)) }
    }

    /// Says sentences that are no response: a greeting, a question, an apology.
    func say(_ turn: TurnID, _ sentences: [String]) {
        let writer = writer(turn)
        responding.begin(turn, [], nil) { await writer?.say(sentences) }
    }

    /// For the task of a turn.
    func update<Value: Sendable>(_ body: @Sendable (inout Responding) -> Value) -> Value { body(&responding) }

    /// Speaks a filler unless the response is there.
    ///
    /// - Returns: false if the filler has to wait because a user speaks.
    func fill(_ turn: TurnID, with filler: String, _ speech: [SynthesizedSpeech]) -> Bool {
        guard !machine.isUserSpeaking, !machine.isHeld else { return !responding.turns.isSilent(turn) }
        let length = speech.reduce(Duration.zero) { $0 + $1.duration }
        guard length > .zero, !Task.isCancelled, responding.turns.fill(turn, with: filler, of: length) else { return true }
        responding.output?.submit(.sentence(turn, filler))
        for piece in speech { responding.output?.submit(.audio(turn, piece)) }
        return true
    }

    /// Ends a turn of which only a filler was audible after `responseTimeout`.
    func expire(_ turn: TurnID) {
        guard !Task.isCancelled, machine.currentTurn == turn, responding.turns.isSilent(turn) else { return }
        logSilence(of: turn)
        handle(.responseFailed(turn))
    }

    var responseTimeout: Duration { machine.settings.responseTimeout }

    func logSilence(of turn: TurnID) {
        responding.logFailure(of: turn, "nothing was audible after \(responseTimeout)")
    }

    /// Ends a turn that cannot be spoken, unless it was cancelled. Every apology follows a log line with its cause: this one, or that of a
    /// turn that timed out.
    func failed(_ turn: TurnID, _ error: any Error) {
        guard !Task.isCancelled, !(error is CancellationError) else { return }
        responding.logFailure(of: turn, "\(error)")
        handle(.responseFailed(turn))
    }

    func abandon(_ turn: TurnID) {
        endOnboarding(turn, completed: false)
        exchange(.abandoned(turn))
        responding.abandon(turn) { [weak self] in await self?.abandoned(turn, heard: $0) }
    }

    private func abandoned(_ turn: TurnID, heard: HeardSpeech) {
        if let segment = responding.transcripts.abandon(turn) { responding.room?.publish(segment) }
        record(turn, heard: heard.text, isInterrupted: true)
        exchange(.heard(turn, heard.played))
    }

    private func record(_ turn: TurnID, heard: String, isInterrupted: Bool) {
        if responding.record(turn, heard: heard, isInterrupted: isInterrupted) { exchange(.said(heard)) }
    }

    private func endOnboarding(_ turn: TurnID, completed: Bool) {
        if let message = opening.ended(turn, completed: completed) { responding.room?.send(message) }
    }

    func take(_ report: SpeechOutput.Report) {
        switch report {
        case .started(let turn):
            handle(.speechStarted(turn))
            responding.started(turn)
        case .extended(let turn, let progress):
            // The turn may have ended meanwhile.
            guard responding.turns[turn] != nil else { return }
            handle(.speaking(turn, text: progress.text))
            responding.publish(progress, of: turn)
        case .failed(let turn, let error): failed(turn, error)
        case .finished(let turn, let heard):
            record(turn, heard: heard, isInterrupted: false)
            responding.finish(turn)
            endOnboarding(turn, completed: true)
            handle(.speechFinished(turn))
            if responding.turns.last == turn { hasEnded = true }
        }
    }
}
