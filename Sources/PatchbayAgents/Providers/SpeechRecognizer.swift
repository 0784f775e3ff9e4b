public import Wire

/// Converts speech to text. Thread-safe: one instance serves all calls of a process.
public protocol SpeechRecognizer: Sendable {
    /// Recognizes a segment of speech.
    ///
    /// The pipeline calls this several times for one utterance: while the user speaks, for partial results of the audio so far, and at its
    /// end. Each call is independent. Cancelling the reading task abandons the request.
    ///
    /// - Returns: results in the order of their revision; the last one is final. The stream throws `ProviderError`.
    func recognize(_ segment: SpeechSegment) -> AsyncThrowingStream<Recognition, any Error>
}

/// A segment of a user's speech.
public struct SpeechSegment: Sendable {
    public static let sampleRate = 16_000

    /// 16 kHz, mono, −1 to 1.
    public var samples: [Float]
    /// When the segment began.
    public var start: Instant
    /// BCP 47 tag of the expected language; empty if unknown.
    public var language: String
    /// Whether the user may still be speaking: a result is needed soon, but only a partial one.
    public var isPartial: Bool

    public init(samples: [Float], start: Instant, language: String = "", isPartial: Bool = false) {
        self.samples = samples
        self.start = start
        self.language = language
        self.isPartial = isPartial
    }

    public var duration: Duration { .nanoseconds(Int64(samples.count) * 1_000_000_000 / Int64(Self.sampleRate)) }
}

/// What a recognizer understood.
public struct Recognition: Sendable, Hashable {
    /// Empty if there was no speech in the segment.
    public var text: String
    public var isFinal: Bool
    /// Words with times relative to the segment's start, if the recognizer has them.
    public var words: [TimedWord]?
    /// BCP 47 tag; empty if unknown.
    public var language: String

    public init(text: String, isFinal: Bool = true, words: [TimedWord]? = nil, language: String = "") {
        self.text = text
        self.isFinal = isFinal
        self.words = words
        self.language = language
    }
}

/// A spoken word and its time.
public struct TimedWord: Sendable, Hashable, Codable {
    /// As written in the text, with or without its punctuation.
    public var text: String
    /// Relative to the beginning of the audio.
    public var start: Duration
    public var end: Duration

    public init(_ text: String, start: Duration, end: Duration) {
        self.text = text
        self.start = start
        self.end = end
    }
}
