internal import PatchbayClient
internal import Wire

/// The assistant's speech in one turn: its frames, and the position of each word in them. A pure value.
///
/// Positions are 48 kHz ticks from the first frame. The frames are kept until the turn ends, because an interruption that was not meant as one
/// continues in the middle.
struct SpokenUtterance: Sendable {
    /// A sentence and its words.
    struct Sentence: Sendable, Hashable {
        /// Characters per second that are assumed while audio of a text is missing.
        private static let characterRate = 15
        /// The assumed end of a text is a multiple of this, so that it changes seldom.
        private static let step = 24_000

        fileprivate(set) var text: String
        let start: Int
        /// The end of the audio so far.
        fileprivate(set) var end: Int
        /// In the order of the text; nil without word times.
        fileprivate(set) var words: [Word]?
        /// All audio is here.
        fileprivate(set) var isComplete = false

        /// Where the text ends, as far as it is known. Without word times this is assumed until the audio is complete.
        var textEnd: Int {
            if isComplete || words != nil { return end }
            let length = text.count * 48_000 / Self.characterRate
            return max(end, start + (length + Self.step - 1) / Self.step * Self.step)
        }
    }

    struct Word: Sendable, Hashable {
        let text: String
        let start: Int
        let end: Int
    }

    private(set) var frames: [SpokenFrame] = []
    /// The beginning of each frame.
    private var positions: [Int] = []
    private(set) var sentences: [Sentence] = []
    /// The end of all frames.
    private(set) var length = 0
    /// The first frame that was not sent since the last `rewind`.
    private(set) var next = 0
    /// The position of the first frame of the current epoch, and its time on the track; nil until a frame was sent in it.
    private(set) var anchor: (position: Int, time: MediaTime)?
    /// The first sentence of the current transcript segment.
    private(set) var segmentStart = 0

    /// Adds frames of audio.
    mutating func append(_ new: [SpokenFrame]) {
        for frame in new {
            positions.append(length + frame.silenceBefore)
            length += frame.ticks + frame.silenceBefore
        }
        frames += new
    }

    /// Adds a sentence whose audio begins at `start`. Its frames may follow later.
    mutating func beginSentence(_ text: String, at start: Int) {
        completeSentence()
        sentences.append(Sentence(text: text, start: start, end: start))
    }

    /// The last sentence has more text than was known.
    mutating func extendText(by text: String) {
        if let last = sentences.indices.last { sentences[last].text += text }
    }

    /// The last sentence has no more audio.
    mutating func completeSentence() {
        if let last = sentences.indices.last { sentences[last].isComplete = true }
    }

    /// More audio of the last sentence was encoded.
    ///
    /// - Parameter words: relative to the beginning of the sentence.
    mutating func extendSentence(to end: Int, words: [TimedWord]?) {
        guard let last = sentences.indices.last else { return }
        sentences[last].end = end
        guard let words else { return }
        let start = sentences[last].start
        sentences[last].words =
            (sentences[last].words ?? [])
            + words.map {
                Word(text: $0.text, start: start + $0.start.inTicks, end: start + $0.end.inTicks)
            }
    }

    /// The first frame of an epoch will be sent with this timestamp.
    mutating func willStart(at time: MediaTime) {
        guard anchor == nil, next < frames.count else { return }
        anchor = (position(of: next), time)
    }

    /// The next frame to be sent, and its time. The first one of an epoch starts a talkspurt.
    ///
    /// - Precondition: `willStart(at:)` was called in this epoch.
    mutating func popFrame() -> (frame: SpokenFrame, time: MediaTime)? {
        guard next < frames.count, let anchor else { return nil }
        var frame = frames[next]
        let position = position(of: next)
        next += 1
        frame.flags.subtract([.talkspurtStart, .talkspurtEnd])
        if position == anchor.position { frame.flags.insert(.talkspurtStart) }
        return (frame, anchor.time.advanced(by: position - anchor.position))
    }

    var hasFrames: Bool { next < frames.count }

    /// The end of the frames sent so far.
    var sentEnd: Int { next > 0 ? positions[next - 1] + frames[next - 1].ticks : 0 }

    /// The position that a time on the track stands for; nil before anything was sent.
    func position(at time: MediaTime) -> Int? {
        anchor.map { min(max($0.position + Int(time.distance(from: $0.time)), 0), length) }
    }

    /// The time of a position on the track.
    func time(of position: Int) -> MediaTime? {
        anchor.map { $0.time.advanced(by: position - $0.position) }
    }

    /// Continues at the first frame that was not played completely, in a new epoch and a new transcript segment.
    ///
    /// - Parameter played: the position played; nil if nothing of the epoch was played.
    mutating func rewind(played: Int?) {
        let played = played ?? anchor?.position ?? 0
        next = frames.indices.first { positions[$0] + frames[$0].ticks > played } ?? frames.endIndex
        anchor = nil
        segmentStart = played
    }

    /// The text of the words that begin at or after `start` and end by `end`.
    ///
    /// Without word times, the share of a sentence's characters that corresponds to the time, up to a word's end.
    func text(from start: Int = 0, to end: Int? = nil) -> String {
        let end = end ?? Int.max
        return sentences.compactMap { sentence -> String? in
            if sentence.start >= start, sentence.textEnd <= end { return sentence.text.trimmingSpaces() }
            guard sentence.start < end, sentence.textEnd > start else { return nil }
            return sentence.part(from: start, to: end)
        }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The words from `start` on, for a transcript segment.
    func words(from start: Int) -> [Word] {
        sentences.flatMap { $0.words ?? [] }.filter { $0.start >= start }
    }

    private func position(of frame: Int) -> Int { positions[frame] }
}

extension SpokenUtterance.Sentence {
    /// The words of `text` within a range of positions, as written.
    fileprivate func part(from: Int, to: Int) -> String {
        let written = text.split(separator: " ")
        let end = textEnd
        let times: [(start: Int, end: Int)]
        if let words, words.count == written.count {
            times = words.map { ($0.start, $0.end) }
        } else {
            // Proportional to the number of characters.
            let total = max(text.count, 1)
            var count = 0
            times = written.map { word in
                let begin = start + (end - start) * count / total
                count += word.count + 1
                return (begin, start + (end - start) * (count - 1) / total)
            }
        }
        return zip(written, times).filter { $1.start >= from && $1.end <= to }.map { String($0.0) }.joined(separator: " ")
    }
}

extension Duration {
    /// Whole 48 kHz ticks.
    var inTicks: Int { Int(inNanoseconds / 1_000 * 6 / 125) }

    init(ticks: Int) {
        self = .nanoseconds(Int64(ticks) * 62_500 / 3)
    }
}

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
