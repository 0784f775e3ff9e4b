internal import Wire

/// Interprets a transcription, `json` or `verbose_json`.
package struct TranscriptionAnswer: AnswerReader {
    private static let bytesMax = 1 << 20
    private static let textBytesMax = 64 << 10

    private let segmentLanguage: String
    private let segmentDuration: Duration
    private var body: [UInt8] = []

    /// Nothing can be used before all of it has arrived.
    package let progress = 0
    package let isComplete = false

    package init(for segment: SpeechSegment) {
        segmentLanguage = segment.language
        segmentDuration = segment.duration
    }

    package mutating func begin(contentType: String) throws(ProviderError) {
        if contentType.hasPrefix("text/html") {
            throw ProviderError(.invalidResponse, "the server sends a web page instead of a transcription; check base_url")
        }
    }

    package mutating func receive(_ bytes: [UInt8], into parts: inout [Recognition]) throws(ProviderError) {
        body += bytes
        guard body.count <= Self.bytesMax else {
            throw ProviderError(.invalidResponse, "the transcription is longer than \(Self.bytesMax) bytes")
        }
    }

    package mutating func finish(into parts: inout [Recognition]) throws(ProviderError) {
        guard let transcription = try? JSON.decode(Transcription.self, from: body, names: .snakeCase) else {
            throw ProviderError(.invalidResponse, "the transcription is malformed")
        }
        guard transcription.text.utf8.count <= Self.textBytesMax else {
            throw ProviderError(.invalidResponse, "the text of the transcription is longer than \(Self.textBytesMax) bytes")
        }
        parts.append(
            Recognition(
                text: transcription.text.trimmed, words: transcription.allWords.map { $0.compactMap(timedWord) },
                language: language(transcription.language)))
    }

    /// Nil for a word without text, or with impossible times.
    private func timedWord(_ word: Transcription.Word) -> TimedWord? {
        let text = word.word.trimmed
        guard !text.isEmpty, word.start.isFinite, word.end.isFinite, 0 <= word.start, word.start <= word.end, word.end < 3_600 else {
            return nil
        }
        let (start, end) = (Duration.milliseconds(word.start * 1_000), Duration.milliseconds(word.end * 1_000))
        return TimedWord(text, start: min(start, segmentDuration), end: min(end, segmentDuration))
    }

    /// Whisper reports names such as `english`, which are no tags.
    private func language(_ reported: String?) -> String {
        guard let reported, (2...3).contains(reported.utf8.count) else { return segmentLanguage }
        return segmentLanguage.hasPrefix(reported) ? segmentLanguage : reported
    }
}

private struct Transcription: Decodable {
    var text: String
    var language: String?
    var words: [Word]?
    var segments: [Segment]?

    /// Nil if the server has no word times.
    ///
    /// whisper.cpp reports them by segment, as tokens: one without a space at its beginning continues the word before it.
    var allWords: [Word]? {
        if let words { return words }
        guard let segments, segments.contains(where: { $0.words != nil }) else { return nil }
        let tokens = segments.flatMap { $0.words ?? [] }
        guard tokens.contains(where: { $0.word.hasPrefix(" ") }) else { return tokens }
        return tokens.reduce(into: []) { words, token in
            if token.word.hasPrefix(" ") || words.isEmpty {
                words.append(token)
            } else {
                words[words.count - 1].word += token.word
                words[words.count - 1].end = token.end
            }
        }
    }

    struct Segment: Decodable {
        var words: [Word]?
    }

    struct Word: Decodable {
        var word: String
        var start: Double
        var end: Double
    }
}

extension String {
    /// Without white space at both ends.
    fileprivate var trimmed: String {
        let rest = drop(while: \.isWhitespace)
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(rest[...last])
    }
}
