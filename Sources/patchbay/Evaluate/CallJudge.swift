import Wire

/// What a line led to. Times are milliseconds.
struct LineResult: Sendable, Codable {
    var step: Int
    var line: String
    /// When the caller's voice began and ended in the recording.
    var startMs: Int
    var endMs: Int
    /// Whether an answer is expected; nil if it does not matter.
    var answerExpected: Bool?
    var answered = false
    /// From the caller's last to the assistant's first sound.
    var responseMs: Int?
    /// When the assistant began before the caller had finished.
    var cutInAtMs: Int?
    var talkOverMs = 0
    /// From the caller's first sound to the assistant's last; nil if the assistant did not speak, or did not stop.
    var stopMs: Int?
    /// From there to the assistant's next sound.
    var resumeMs: Int?
    /// The assistant stopped although it should not.
    var isFalseStop = false
    /// Words that the assistant believes were heard, but were not; nil if it was not interrupted, or publishes no word times.
    var unheardWords: Int?
    /// What the assistant understood and said, by its transcripts.
    var understood = ""
    var answer = ""
    var words = 0
    /// Nil without a transcript or a text to compare.
    var wordErrors: Int?
    /// Expectations that do not hold, as sentences.
    var failures: [String] = []
}

/// Judges a call by its record. Deterministic.
struct CallJudge {
    /// Shorter pauses belong to an answer.
    private static let pause = 400
    /// Without playout reports, silence of this length counts as a stop after a line that should not stop the assistant.
    private static let longPause = 1_000
    /// A clear follows the line that caused it within this time, counted from the line's end.
    private static let clearMax = 1_500
    /// What of a cleared track may still be heard: the fade-out, and the delay of events.
    private static let fade = 80

    private let record: CallRecord
    private let phrases: [Span]

    init(_ record: CallRecord) {
        self.record = record
        phrases = Span.closed(record.assistant, below: Self.pause)
    }

    func results() -> [LineResult] { record.lines.indices.map(result) }

    private func result(_ index: Int) -> LineResult {
        let spoken = record.lines[index]
        let expectation = spoken.line.expectation
        var result = LineResult(step: spoken.number, line: spoken.line.label, startMs: spoken.start, endMs: spoken.end)
        guard !spoken.voiced.isEmpty else {
            result.failures = ["there was nothing to interrupt: the assistant did not speak long enough"]
            return result
        }
        let next = record.lines[(index + 1)...].first { !$0.voiced.isEmpty }?.start ?? Int.max
        let running = phrases.first { $0.start < spoken.start && $0.end > spoken.start }
        var later = phrases.filter { $0.start >= spoken.start && $0.start < next }
        if let running {
            judgeStop(of: running, by: spoken, before: next, &result)
            if let stop = result.stopMs { later = record.assistant.filter { $0.start > spoken.start + stop && $0.start < next } }
        }
        if expectation.claimsTheFloor {
            result.cutInAtMs = later.first { $0.start < spoken.end && $0.end > spoken.start }?.start
            result.talkOverMs = spoken.voiced.reduce(0) { sum, span in sum + record.assistant.reduce(0) { $0 + $1.overlap(with: span) } }
        }
        judgeAnswer(to: spoken, later, before: next, resumed: result.resumeMs != nil && expectation.stops == false, &result)
        judgeWords(of: spoken, before: next, &result)
        result.failures = failures(spoken.line, running != nil, result)
        return result
    }

    // MARK: Stops

    private func judgeStop(of running: Span, by spoken: CallRecord.SpokenLine, before next: Int, _ result: inout LineResult) {
        let clear = record.clears.first { $0.at >= spoken.start && $0.at < min(next, spoken.end + Self.clearMax) }
        let shouldStop = spoken.line.expectation.stops != false
        var stop: Int?
        if let clear {
            let end = clear.at + Self.fade
            stop = record.assistant.last { $0.start < end }.map { min($0.end, end) }
            result.unheardWords = unheardWords(at: clear)
        } else if shouldStop {
            stop = running.end
        } else if !record.reportsPlayout {
            // Neither a pause between sentences nor an end after the line is a stop.
            let phrase = Span.closed(record.assistant, below: Self.longPause).first { $0.start < spoken.start && $0.end > spoken.start }
            stop = phrase.flatMap { $0.end < spoken.end + Self.longPause ? $0.end : nil }
        }
        guard let stop else { return }
        result.stopMs = max(0, stop - spoken.start)
        guard !shouldStop else { return }
        let resumed = record.assistant.first { $0.start > stop && $0.start < next && continues(interruptedAt: stop, from: $0.start) }
        result.resumeMs = resumed.map { $0.start - stop }
        let limit = spoken.line.expectation.resumesWithinMs
        result.isFalseStop = limit.map { result.resumeMs ?? Int.max > $0 } ?? true
    }

    /// Whether what is said from `start` on goes on with what was interrupted, and is no new answer. Without transcripts, it is believed to.
    private func continues(interruptedAt stop: Int, from start: Int) -> Bool {
        let said = record.transcripts.filter { !$0.isCaller }
        guard let after = said.first(where: { $0.firstAt >= stop && $0.firstAt < start + Self.longPause }) else { return true }
        let beginning = Array(SpokenWords.of(after.text).prefix(2))
        return said.contains { $0.firstAt < stop && SpokenWords.of($0.text).contains(beginning) }
    }

    /// Words that the transcript of what was interrupted keeps, of which less than half was played.
    private func unheardWords(at clear: CallRecord.Clear) -> Int? {
        guard let heardTo = clear.heardTo else { return nil }
        let interrupted = record.transcripts.filter { !$0.isCaller && $0.heardChars != nil && $0.firstAt <= clear.at && !$0.words.isEmpty }
        guard let segment = interrupted.last(where: { $0.firstAt <= clear.at }) else { return nil }
        let kept = SpokenWords.count(in: segment.keptText)
        return segment.words.prefix(kept).count { word in
            let middle = MediaTime(ticks: word.startTs).advanced(
                by: Int(MediaTime(ticks: word.endTs).distance(from: MediaTime(ticks: word.startTs))) / 2)
            return middle.distance(from: heardTo) > 0
        }
    }

    // MARK: Answers

    private func judgeAnswer(to spoken: CallRecord.SpokenLine, _ later: [Span], before next: Int, resumed: Bool, _ result: inout LineResult)
    {
        var onsets = later.filter { $0.end > spoken.end }
        if resumed, !onsets.isEmpty { onsets.removeFirst() }
        let interrupts = spoken.line.interruptAfterMs != nil
        let expectation = spoken.line.expectation
        let isExpected = expectation.expectsAnswer(interrupting: interrupts) || !expectation.contains.isEmpty
        result.answerExpected = isExpected || expectation.answered != nil ? isExpected : nil
        result.answered = !onsets.isEmpty
        if expectation.claimsTheFloor { result.responseMs = onsets.first { $0.start >= spoken.end }.map { $0.start - spoken.end } }
    }

    private func judgeWords(of spoken: CallRecord.SpokenLine, before next: Int, _ result: inout LineResult) {
        let transcripts = record.transcripts.filter { $0.firstAt >= spoken.start && $0.firstAt < next && !$0.text.isEmpty }
        result.understood = transcripts.filter { $0.isCaller && $0.isFinal }.map(\.text).joined(separator: " ")
        result.answer = transcripts.filter { !$0.isCaller }.map(\.heardText).joined(separator: " ")
        guard let text = spoken.line.text, spoken.line.expectation.claimsTheFloor, record.transcripts.contains(where: \.isCaller) else {
            return
        }
        let errors = WordErrors(
            of: SpokenWords.of(result.understood).joined(separator: " "), comparedTo: SpokenWords.of(text).joined(separator: " "))
        (result.words, result.wordErrors) = (errors.words, errors.count)
    }

    private func failures(_ line: CallerLine, _ wasSpeaking: Bool, _ result: LineResult) -> [String] {
        let expectation = line.expectation
        var failures: [String] = []
        if let isExpected = result.answerExpected, result.answered != isExpected {
            failures.append(isExpected ? "it was not answered" : "it was answered, but should not be")
        }
        if result.answered, let text = expectation.contains.first(where: { !SpokenWords.of(result.answer).contains(SpokenWords.of($0)) }) {
            failures.append("the answer does not contain \"\(text)\": \"\(result.answer)\"")
        }
        if expectation.stops == true {
            let limit = expectation.stopsWithinMs.map { " within \($0) ms" } ?? ""
            if !wasSpeaking {
                failures.append("there was nothing to interrupt: the assistant had just finished")
            } else if let stop = result.stopMs, stop > expectation.stopsWithinMs ?? Int.max {
                failures.append("the assistant stopped after \(stop) ms, not\(limit)")
            }
        }
        if result.isFalseStop {
            let resumed = result.resumeMs.map { "went on after \($0) ms" } ?? "did not go on"
            failures.append("the assistant stopped after \(result.stopMs ?? 0) ms and \(resumed)")
        }
        return failures
    }
}

/// The words of a text for comparisons: in lower case, without punctuation, with numbers below a thousand spelled out.
enum SpokenWords {
    private static let ones = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
        "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ]
    private static let tens = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

    static func of(_ text: String) -> [String] {
        WordErrors.words(text).flatMap { word in Int(word).flatMap(spelled) ?? [word] }
    }

    /// The number of words as they are written.
    static func count(in text: String) -> Int { text.split(whereSeparator: \.isWhitespace).count }

    private static func spelled(_ number: Int) -> [String]? {
        switch number {
        case 0..<20: [ones[number]]
        case 20..<100: [tens[number / 10]] + (number % 10 > 0 ? [ones[number % 10]] : [])
        case 100..<1_000: [ones[number / 100], "hundred"] + (number % 100 > 0 ? spelled(number % 100) ?? [] : [])
        default: nil
        }
    }
}
