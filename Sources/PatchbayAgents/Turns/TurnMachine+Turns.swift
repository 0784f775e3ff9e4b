internal import Wire

/// Turns of the assistant.
extension TurnMachine {
    /// Interrupts the assistant if a user has spoken long enough, and clearly.
    mutating func bargeIn(by speaker: Speaker, at now: Instant, into effects: inout [TurnEffect]) {
        guard speaker.utterance != nil, speaker.segmenter.voiced >= settings.bargeIn, isOneVoice(speaker) else { return }
        switch floor {
        case .speaking(let turn):
            floor = .interrupted(turn)
            effects.append(.interrupt(turn))
        case .thinking(let turn, _):
            // Nothing is audible yet, so what is being said now belongs to what the response is about.
            floor = .listening
            effects.append(.cancelResponse(turn))
        case .listening, .interrupted: break
        }
    }

    /// Responds to everything pending, unless a user is still speaking.
    mutating func takeTurn(at now: Instant, into effects: inout [TurnEffect]) {
        guard !pending.isEmpty, !isUserSpeaking, !isHeld else { return }
        switch floor {
        case .listening: break
        case .thinking(let turn, _): effects.append(.cancelResponse(turn))
        case .speaking(let turn), .interrupted(let turn):
            if spoken.isPremature { effects.append(.retractLastMessage(turn)) }
            effects.append(.abandonSpeech(turn))
        }
        let turn = nextTurn()
        if let last = pending.messages.last, last.kind == .speech { spoken.answers = last.speaker }
        floor = .thinking(turn, since: now)
        apology = nil
        pending.digitsEnd = nil
        effects.append(.respond(turn, pending.messages, pending.end ?? EndOfTurn(speechEnded: now, decided: now)))
    }

    /// The messages that the assistant would respond to if it took the turn now: all pending ones, and the text of a user who pauses. Nil
    /// while somebody speaks, the text is not known, or the assistant has the turn.
    var prospect: [UserMessage]? {
        let speaking = speakers.filter { $0.utterance != nil }
        guard floor == .listening, !isHeld, speaking.count == 1, let speaker = speaking.first, let utterance = speaker.utterance else {
            return nil
        }
        guard utterance.silence > .zero, !utterance.hasFailed, let outcome = utterance.outcome(voiced: speaker.segmenter.voiced),
            !outcome.text.isEmpty
        else { return nil }
        return pending.messages + [UserMessage(speaker: speaker.identity, text: outcome.text, kind: .speech)]
    }

    /// After an utterance without content: the assistant continues, or responds to what was said before it.
    mutating func resumeOrRespond(at now: Instant, into effects: inout [TurnEffect]) {
        guard !isUserSpeaking, !isHeld else { return }
        if pending.isEmpty, case .interrupted(let turn) = floor {
            floor = .speaking(turn)
            effects.append(.resumeSpeech(turn))
        } else if !isThinking {
            takeTurn(at: now, into: &effects)
        }
    }

    private var isThinking: Bool {
        if case .thinking = floor { true } else { false }
    }

    mutating func say(_ phrase: AssistantPhrase, at now: Instant, into effects: inout [TurnEffect]) {
        let turn = nextTurn()
        floor = .thinking(turn, since: now)
        apology = phrase == .question ? nil : turn
        effects.append(.say(turn, phrase))
    }

    // MARK: Speech

    mutating func speechStarted(_ turn: TurnID, at now: Instant, into effects: inout [TurnEffect]) {
        guard case .thinking(turn, _) = floor else { return }
        pending.removeAll()
        spoken.since = now
        if speakers.contains(where: { $0.utterance?.earlierText != nil }) { spoken.isPremature = true }
        floor = .speaking(turn)
        if isHeld {
            floor = .interrupted(turn)
            effects.append(.interrupt(turn))
        }
    }

    mutating func speechFinished(_ turn: TurnID, at now: Instant, into effects: inout [TurnEffect]) {
        guard currentTurn == turn else { return }
        if case .thinking = floor { pending.removeAll() }
        apology = nil
        floor = .listening
        quiet.restart(at: now, bySpeech: false)
        takeTurn(at: now, into: &effects)
    }

    /// Does not repeat the question, so that a failing provider does not loop.
    mutating func responseFailed(_ turn: TurnID, at now: Instant, into effects: inout [TurnEffect]) {
        guard currentTurn == turn else { return }
        if case .thinking = floor { effects.append(.cancelResponse(turn)) } else { effects.append(.abandonSpeech(turn)) }
        pending.removeAll()
        floor = .listening
        if apology != turn { say(.apology, at: now, into: &effects) }
    }

    // MARK: Text, digits, hold

    mutating func take(_ message: UserMessage, at now: Instant, into effects: inout [TurnEffect]) {
        pending.append(message, EndOfTurn(speechEnded: now, decided: now))
        quiet.restart(at: now, bySpeech: true)
        takeTurn(at: now, into: &effects)
    }

    mutating func take(_ digits: String, of who: Identity, at now: Instant) {
        pending.append(digits: digits, of: who, EndOfTurn(speechEnded: now, decided: now), until: now + settings.digitPause)
        quiet.restart(at: now, bySpeech: true)
    }

    mutating func hold(_ held: Bool, at now: Instant, into effects: inout [TurnEffect]) {
        guard held != isHeld else { return }
        isHeld = held
        if held {
            for who in speakers.filter({ $0.utterance != nil }).map(\.identity) { endMicrophone(of: who, at: now, into: &effects) }
            if case .speaking(let turn) = floor {
                floor = .interrupted(turn)
                effects.append(.interrupt(turn))
            }
        } else {
            quiet.restart(at: now, bySpeech: true)
            resumeOrRespond(at: now, into: &effects)
        }
    }

    // MARK: Time

    mutating func checkTimers(at now: Instant, into effects: inout [TurnEffect]) {
        expireRecognitions(at: now, into: &effects)
        guard !isHeld else { return }
        if let digitsEnd = pending.digitsEnd, now >= digitsEnd {
            pending.digitsEnd = nil
            takeTurn(at: now, into: &effects)
        }
        if case .thinking(let turn, let since) = floor, now - since >= settings.responseTimeout {
            effects.append(.timedOut(turn))
            responseFailed(turn, at: now, into: &effects)
        }
        if awaitsReminder { quiet.restart(at: now, bySpeech: false) }
        guard floor == .listening, !isUserSpeaking, !speakers.isEmpty else { return }
        if case .ask? = quiet.expire(after: settings.questionAfter, at: now) { say(.question, at: now, into: &effects) }
    }
}
