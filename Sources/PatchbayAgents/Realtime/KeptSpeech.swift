internal import Wire

/// The audio of what users said, until it was responded to: a realtime provider hears it. A pure value.
///
/// Bounded: of the oldest utterances only the text remains.
struct KeptSpeech: Sendable {
    /// 75 s. A single utterance is shorter, see `TurnSettings.utteranceMax`.
    static let samplesMax = 75 * SpeechSegment.sampleRate

    private struct Utterance {
        let speaker: Identity
        let text: String
        /// Nil if some of it is missing.
        var samples: [Float]?
        /// Its end is not known yet.
        var isOpen = true
        var isTaken = false
    }

    private var utterances: [Utterance] = []
    /// Audio of utterances in progress that the microphone does not keep any more.
    private var pieces: [Identity: [Float]] = [:]

    mutating func begin(_ who: Identity) {
        close(who)
        pieces[who] = nil
    }

    /// The microphone forgets a piece of an utterance in progress.
    mutating func settle(_ samples: [Float], of who: Identity) {
        close(who)
        pieces[who, default: []] += samples
        trim()
    }

    /// The transcript of an utterance is final; its audio ends with the pieces settled so far, or with `end`.
    mutating func transcribed(_ text: String, of who: Identity) {
        close(who)
        utterances.append(Utterance(speaker: who, text: text, samples: pieces.removeValue(forKey: who) ?? []))
        trim()
    }

    /// An utterance has ended.
    ///
    /// - Parameter samples: what the microphone keeps of it; nil if the microphone is gone.
    mutating func end(_ samples: [Float]?, of who: Identity) {
        pieces[who] = nil
        guard let index = openUtterance(of: who) else { return }
        utterances[index].isOpen = false
        if let before = utterances[index].samples { utterances[index].samples = samples.map { before + $0 } }
        trim()
    }

    /// The audio of a message, at `SpeechSegment.sampleRate`; nil if it is not known completely. Each utterance is taken once.
    mutating func take(_ message: UserMessage) -> [Float]? {
        let index = utterances.firstIndex { !$0.isTaken && $0.speaker == message.speaker && $0.text == message.text }
        guard message.kind == .speech, let index else { return nil }
        utterances[index].isTaken = true
        return utterances[index].samples
    }

    /// Everything can be taken again.
    mutating func rewind() {
        for index in utterances.indices { utterances[index].isTaken = false }
    }

    /// Everything said so far was responded to, or needs no response.
    mutating func forget() {
        utterances.removeAll()
    }

    private func openUtterance(of who: Identity) -> Int? {
        utterances.lastIndex { $0.isOpen && $0.speaker == who }
    }

    private mutating func close(_ who: Identity) {
        if let index = openUtterance(of: who) { utterances[index].isOpen = false }
    }

    private mutating func trim() {
        var count = utterances.reduce(0) { $0 + ($1.samples?.count ?? 0) } + pieces.values.reduce(0) { $0 + $1.count }
        for index in utterances.indices where count > Self.samplesMax {
            count -= utterances[index].samples?.count ?? 0
            utterances[index].samples = nil
        }
    }
}
