internal import Wire

extension TurnMachine {
    /// What the assistant would respond to if the turn were taken now: everything pending and the recognized text of a user who pauses. Nil
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
}
