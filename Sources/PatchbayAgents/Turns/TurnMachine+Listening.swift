internal import Wire

/// Utterances of users.
extension TurnMachine {
    mutating func process(
        _ window: SpeechSegmenter.Window, level: Double, of who: Identity, at now: Instant, into effects: inout [TurnEffect]
    ) {
        if level > settings.silenceLevel { quiet.restart(at: now, bySpeech: false) }
        guard !isHeld else { return }
        let index = speakerIndex(of: who)
        // The utterance that the end of the microphone cut off is recognized first.
        guard !speakers[index].hasEnded else { return }
        if speakers[index].utterance == nil { speakers[index].background.append(level) }
        switch speakers[index].segmenter.process(window) {
        case .began(let leadIn): begin(index, leadIn: leadIn, at: now, into: &effects)
        case .paused(let silence): advance(index, window.duration, level, silence: silence, at: now, into: &effects)
        case .resumed, nil: advance(index, window.duration, level, silence: .zero, at: now, into: &effects)
        }
        bargeIn(by: speakers[index], at: now, into: &effects)
    }

    private mutating func speakerIndex(of who: Identity) -> Int {
        if let index = speakers.firstIndex(where: { $0.identity == who }) { return index }
        speakers.append(Speaker(identity: who, segmenter: SpeechSegmenter(settings.segmenter)))
        return speakers.count - 1
    }

    private mutating func begin(_ index: Int, leadIn: Duration, at now: Instant, into effects: inout [TurnEffect]) {
        quiet.restart(at: now, bySpeech: true)
        guard !reopen(index, leadIn: leadIn, at: now, into: &effects) else { return }
        numbers.utterance += 1
        speakers[index].utterance = UtteranceTracker(number: numbers.utterance, at: now)
        effects.append(.beginUtterance(speakers[index].identity, leadIn: leadIn))
    }

    /// Continues the last utterance if its end was a false one: the user has paused within a sentence.
    ///
    /// - Returns: false if a new utterance begins.
    private mutating func reopen(_ index: Int, leadIn: Duration, at now: Instant, into effects: inout [TurnEffect]) -> Bool {
        guard var last = speakers[index].last, now - last.lastSpeechAt - leadIn <= settings.continuation.pauseMax else {
            speakers[index].earlierSpeech = .zero
            return false
        }
        let who = speakers[index].identity
        guard settings.continuation.isEnabled else { return false }
        switch floor {
        case .listening, .thinking: guard pending.removeLast(of: who) else { return false }
        case .speaking, .interrupted:
            // Who speaks so soon cannot react to what the assistant says.
            guard pending.isEmpty, spoken.answers == who, let since = spoken.since,
                now - since - leadIn <= settings.continuation.reactionMin
            else { return false }
            spoken.isPremature = true
        }
        last.reopen(at: now)
        speakers[index].last = nil
        speakers[index].utterance = last
        effects.append(.continueUtterance(who, leadIn: leadIn))
        return true
    }

    private mutating func advance(
        _ index: Int, _ window: Duration, _ level: Double, silence: Duration, at now: Instant, into effects: inout [TurnEffect]
    ) {
        let voiced = speakers[index].segmenter.voiced
        let recognizeAfter = recognizeAfter(speakers[index])
        let step = speakers[index].utterance?.advance(
            by: window, level: level, silence: silence, voiced: voiced, recognizeAfter: recognizeAfter, settings: settings, at: now)
        guard speakers[index].utterance != nil else { return }
        quiet.restart(at: now, bySpeech: true)
        // What is too short to be speech is not recognized: recognizers invent words for noise.
        if case .recognize(let isPartial)? = step, voiced >= settings.segmenter.voicedMin {
            recognize(index, isPartial: isPartial, at: now, into: &effects)
        }
        endIfComplete(index, at: now, into: &effects)
    }

    private mutating func recognize(_ index: Int, isPartial: Bool, at now: Instant, into effects: inout [TurnEffect]) {
        numbers.recognition += 1
        let id = RecognitionID(numbers.recognition)
        let voiced = speakers[index].segmenter.voiced
        if let replaced = speakers[index].utterance?.started(id, isPartial: isPartial, voiced: voiced, at: now) {
            effects.append(.cancelRecognition(replaced))
        }
        effects.append(.recognize(id, speakers[index].identity, isPartial: isPartial))
        guard !isPartial, settings.pauses.usesTurnDetector, let silence = speakers[index].utterance?.silence, silence > .zero else {
            return
        }
        speakers[index].utterance?.awaitJudgement(id, voiced: voiced)
        effects.append(.judgeEnd(id, speakers[index].identity, silence: silence))
    }

    /// Ends an utterance whose pause is long enough for its text.
    private mutating func endIfComplete(_ index: Int, at now: Instant, into effects: inout [TurnEffect]) {
        guard let utterance = speakers[index].utterance else { return }
        let hasEnded = speakers[index].hasEnded
        guard utterance.silence > .zero || hasEnded else { return }
        let voiced = speakers[index].segmenter.voiced
        if voiced < settings.segmenter.voicedMin {
            if utterance.silence >= settings.pauses.unknown || hasEnded { drop(index, at: now, into: &effects) }
            return
        }
        guard let outcome = utterance.outcome(voiced: voiced) else { return }
        if hasEnded || utterance.silence >= pause(after: outcome.text, of: speakers[index], utterance) {
            complete(index, outcome, at: now, into: &effects)
        }
    }

    /// The silence that ends a turn.
    private func pause(after text: String, of speaker: Speaker, _ utterance: UtteranceTracker) -> Duration {
        let voiced = speaker.segmenter.voiced
        if isOverAssistant {
            // The assistant goes on at once after what was no interruption. Words that may be invented wait for others.
            if isAcknowledgement(text, of: speaker, utterance) { return recognizeAfter(speaker) }
            if isSound(text, of: speaker, utterance) { return settings.sounds.inventedPause }
        }
        if utterance.awaitsJudgement(voiced: voiced), utterance.silence < settings.pauses.judgementMax {
            return settings.pauses.judgementMax
        }
        return settings.pauses.silence(
            after: text, soundsFinished: utterance.endProbability(voiced: voiced), isAnswer: spoken.isQuestion,
            speech: speaker.earlierSpeech + voiced)
    }

    /// The microphone was muted or removed: what was said so far is recognized, and the turn ends without a further pause.
    mutating func endMicrophone(of who: Identity, at now: Instant, into effects: inout [TurnEffect]) {
        guard let index = speakers.firstIndex(where: { $0.identity == who }), !speakers[index].hasEnded else { return }
        guard let utterance = speakers[index].utterance else {
            speakers.remove(at: index)
            return
        }
        speakers[index].hasEnded = true
        let voiced = speakers[index].segmenter.voiced
        if voiced >= settings.segmenter.voicedMin, utterance.needsRecognition(voiced: voiced) {
            recognize(index, isPartial: false, at: now, into: &effects)
        }
        endIfComplete(index, at: now, into: &effects)
    }

    // MARK: Results

    mutating func recognized(_ id: RecognitionID, _ recognition: Recognition, at now: Instant, into effects: inout [TurnEffect]) {
        for index in speakers.indices {
            guard let result = speakers[index].utterance?.recognized(id, recognition, at: now) else { continue }
            if result.settles { effects.append(.settleAudio(speakers[index].identity)) }
            if result.settles, let utterance = speakers[index].utterance, utterance.length >= settings.utteranceMax,
                !speakers[index].hasEnded
            {
                return split(index, at: now, into: &effects)
            }
            if result.changed { publish(index, isFinal: false, into: &effects) }
            return endIfComplete(index, at: now, into: &effects)
        }
    }

    mutating func endJudged(_ id: RecognitionID, _ probability: Float, at now: Instant, into effects: inout [TurnEffect]) {
        for index in speakers.indices where speakers[index].utterance?.judged(id, probability) == true {
            return endIfComplete(index, at: now, into: &effects)
        }
    }

    mutating func recognitionFailed(_ id: RecognitionID, at now: Instant, into effects: inout [TurnEffect]) {
        for index in speakers.indices where speakers[index].utterance?.fail(id) == true {
            return endIfComplete(index, at: now, into: &effects)
        }
    }

    /// Ends the utterances of ended microphones whose recognition takes too long. The others notice with their next window.
    mutating func expireRecognitions(at now: Instant, into effects: inout [TurnEffect]) {
        guard let index = speakers.firstIndex(where: { $0.hasEnded && $0.utterance?.isOverdue(at: now, settings) == true }),
            let id = speakers[index].utterance?.requestInFlight
        else { return }
        recognitionFailed(id, at: now, into: &effects)
    }

    private mutating func publish(_ index: Int, isFinal: Bool, into effects: inout [TurnEffect]) {
        guard var utterance = speakers[index].utterance, !utterance.text.isEmpty || utterance.revision > 0 else { return }
        let transcript = UserTranscript(
            speaker: speakers[index].identity, utterance: utterance.number, revision: utterance.nextRevision(), text: utterance.text,
            isFinal: isFinal, language: utterance.language)
        speakers[index].utterance = utterance
        effects.append(.transcript(transcript))
    }

    // MARK: Ends

    /// A transcript becomes final although the user speaks on.
    private mutating func split(_ index: Int, at now: Instant, into effects: inout [TurnEffect]) {
        guard let utterance = speakers[index].utterance else { return }
        publish(index, isFinal: true, into: &effects)
        pending.append(UserMessage(speaker: speakers[index].identity, text: utterance.text, kind: .speech))
        numbers.utterance += 1
        speakers[index].utterance = UtteranceTracker(number: numbers.utterance, at: now)
    }

    /// Noise, or the assistant's own voice: the user said nothing.
    private mutating func drop(_ index: Int, at now: Instant, into effects: inout [TurnEffect]) {
        let who = speakers[index].identity
        let earlier = speakers[index].utterance?.earlierText
        if var utterance = speakers[index].utterance, utterance.revision > 0 {
            // Partial results are withdrawn.
            let transcript = UserTranscript(
                speaker: who, utterance: utterance.number, revision: utterance.nextRevision(), text: earlier ?? "", isFinal: true,
                language: utterance.language)
            effects.append(.transcript(transcript))
        }
        finish(index, into: &effects)
        if let earlier, !spoken.isPremature { pending.append(UserMessage(speaker: who, text: earlier, kind: .speech)) }
        spoken.isPremature = false
        resumeOrRespond(at: now, into: &effects)
    }

    private mutating func complete(
        _ index: Int, _ outcome: UtteranceTracker.Outcome, at now: Instant, into effects: inout [TurnEffect]
    ) {
        guard let utterance = speakers[index].utterance else { return }
        let who = speakers[index].identity
        guard !isSound(outcome.text, of: speakers[index], utterance) else { return drop(index, at: now, into: &effects) }
        let isAcknowledgement = isAcknowledgement(outcome.text, of: speakers[index], utterance)
        publish(index, isFinal: true, into: &effects)
        finish(index, into: &effects)
        if outcome.text.isEmpty, utterance.hasFailed, floor == .listening { return say(.notUnderstood, at: now, into: &effects) }
        guard !isAcknowledgement, !outcome.text.isEmpty else { return resumeOrRespond(at: now, into: &effects) }
        pending.append(
            UserMessage(speaker: who, text: outcome.text, kind: .speech),
            EndOfTurn(speechEnded: utterance.lastSpeechAt, decided: now, recognition: outcome.took))
        takeTurn(at: now, into: &effects)
    }

    private mutating func finish(_ index: Int, into effects: inout [TurnEffect]) {
        if let utterance = speakers[index].utterance {
            if let id = utterance.requestInFlight { effects.append(.cancelRecognition(id)) }
            speakers[index].earlierSpeech += speakers[index].segmenter.voiced
            speakers[index].last = utterance
        }
        speakers[index].utterance = nil
        speakers[index].segmenter.end()
        effects.append(.endUtterance(speakers[index].identity))
        if speakers[index].hasEnded { speakers.remove(at: index) }
    }
}
