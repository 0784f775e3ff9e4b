internal import Wire

/// The transcript of a turn of the assistant so far.
struct SpeechProgress: Sendable, Hashable {
    /// Increases with each report of the turn, because reports may overtake one another.
    var number: Int
    /// Number of the segment within the turn.
    var part: Int
    var text: String
    /// With times on the track; nil if some are not known.
    var words: [TranscriptWord]?
    var start: MediaTime?
    var end: MediaTime?
    var isComplete: Bool

    init(of turn: SpokenTurn) {
        let utterance = turn.utterance
        number = turn.reports
        part = turn.part
        isComplete = turn.isComplete
        text = utterance.text(from: utterance.segmentStart)
        start = utterance.time(of: utterance.segmentStart)
        end = utterance.time(of: max(utterance.length, utterance.sentences.last?.textEnd ?? 0))
        let sentences = utterance.sentences.filter { $0.textEnd > utterance.segmentStart }
        guard sentences.allSatisfy({ $0.words != nil }) else { return }
        let timed = utterance.words(from: utterance.segmentStart).compactMap { word -> TranscriptWord? in
            guard let start = utterance.time(of: word.start), let end = utterance.time(of: word.end) else { return nil }
            return TranscriptWord(text: word.text, startTs: start.ticks, endTs: end.ticks)
        }
        words = timed.isEmpty ? nil : timed
    }
}

/// The part of a turn that was played.
struct HeardSpeech: Sendable, Hashable {
    var text = ""
    /// How much of each sentence's audio was played, in their order.
    var played: [Duration] = []
}
