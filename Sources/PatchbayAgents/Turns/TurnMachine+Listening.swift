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
        switch speakers[index].segmenter.process(window) {
        case .began(let leadIn): begin(index, leadIn: leadIn, at: now, into: &effects)
        case .paused(let silence): advance(index, window.duration, silence: silence, at: now, into: &effects)
        case .resumed, nil: advance(index, window.duration, silence: .zero, at: now, into: &effects)
        }
        bargeIn(by: speakers[index], at: now, into: &effects)
    }

    private mutating func speakerIndex(of who: Identity) -> Int {
        if let index = speakers.firstIndex(where: { $0.identity == who }) { return index }
        speakers.append(Speaker(identity: who, segmenter: SpeechSegmenter(settings.segmenter)))
        return speakers.count - 1
    }

    private mutating func begin(_ index: Int, leadIn: Duration, at now: Instant, into effects: inout [TurnEffect]) {
        numbers.utterance += 1
        speakers[index].utterance = UtteranceTracker(number: numbers.utterance, at: now)
        if let last = speakers[index].lastSpeechAt, now - last > settings.continuationMax { speakers[index].earlierSpeech = .zero }
        effects.append(.beginUtterance(speakers[index].identity, leadIn: leadIn))
        quiet.restart(at: now, bySpeech: true)
    }

    private mutating func advance(
        _ index: Int, _ window: Duration, silence: Duration, at now: Instant, into effects: inout [TurnEffect]
    ) {
        let voiced = speakers[index].segmenter.voiced
        let step = speakers[index].utterance?.advance(by: window, silence: silence, voiced: voiced, settings: settings, at: now)
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
    }

    /// Ends an utterance whose pause is long enough for its text.
    private mutating func endIfComplete(_ index: Int, at now: Instant, into effects: inout [TurnEffect]) {
        guard let utterance = speakers[index].utterance else { return }
        let hasEnded = speakers[index].hasEnded
        guard utterance.silence > .zero || hasEnded else { return }
        let voiced = speakers[index].segmenter.voiced
        if voiced < settings.segmenter.voicedMin {
            if utterance.silence >= settings.pause || hasEnded { drop(index, at: now, into: &effects) }
            return
        }
        guard let outcome = utterance.outcome(voiced: voiced) else { return }
        if hasEnded || utterance.silence >= pause(after: outcome.text, of: speakers[index]) {
            complete(index, outcome, at: now, into: &effects)
        }
    }

    /// The silence that ends a turn.
    private func pause(after text: String, of speaker: Speaker) -> Duration {
        let pause =
            switch UtteranceText.completeness(of: text) {
            case .complete: settings.pauseAfterSentence
            case .incomplete: settings.pauseWithinSentence
            case .unknown: settings.pause
            }
        let speech = speaker.earlierSpeech + speaker.segmenter.voiced
        return pause + min(max((speech - settings.longTurn) / 10, .zero), settings.longTurnPauseMax)
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
        if let utterance = speakers[index].utterance, utterance.revision > 0 {
            // Partial results are withdrawn.
            effects.append(
                .transcript(
                    UserTranscript(
                        speaker: speakers[index].identity, utterance: utterance.number, revision: utterance.revision, text: "",
                        isFinal: true,
                        language: utterance.language)))
        }
        finish(index, into: &effects)
        resumeOrRespond(at: now, into: &effects)
    }

    private mutating func complete(
        _ index: Int, _ outcome: UtteranceTracker.Outcome, at now: Instant, into effects: inout [TurnEffect]
    ) {
        guard let utterance = speakers[index].utterance else { return }
        let who = speakers[index].identity
        let isSyllable = speakers[index].segmenter.voiced <= settings.syllableMax
        if case .interrupted = floor,
            UtteranceText.isEcho(outcome.text, of: spokenWords) || (isSyllable && UtteranceText.isInventedSyllable(outcome.text))
        {
            return drop(index, at: now, into: &effects)
        }
        publish(index, isFinal: true, into: &effects)
        finish(index, into: &effects)
        if outcome.text.isEmpty, utterance.hasFailed, floor == .listening { return say(.notUnderstood, at: now, into: &effects) }
        let mayBeBackchannel = isSyllable && UtteranceText.resemblesBackchannel(outcome.text)
        if case .interrupted = floor, mayBeBackchannel || UtteranceText.isBackchannel(outcome.text) {
            return resumeOrRespond(at: now, into: &effects)
        }
        guard !outcome.text.isEmpty else { return resumeOrRespond(at: now, into: &effects) }
        pending.append(
            UserMessage(speaker: who, text: outcome.text, kind: .speech),
            EndOfTurn(speechEnded: utterance.lastSpeechAt, decided: now, recognition: outcome.took))
        takeTurn(at: now, into: &effects)
    }

    private mutating func finish(_ index: Int, into effects: inout [TurnEffect]) {
        if let utterance = speakers[index].utterance {
            if let id = utterance.requestInFlight { effects.append(.cancelRecognition(id)) }
            speakers[index].earlierSpeech += speakers[index].segmenter.voiced
            speakers[index].lastSpeechAt = utterance.lastSpeechAt
        }
        speakers[index].utterance = nil
        speakers[index].segmenter.end()
        effects.append(.endUtterance(speakers[index].identity))
        if speakers[index].hasEnded { speakers.remove(at: index) }
    }
}
