internal import Wire

/// Follows one user's utterance: when to recognize it, and when it has ended. A pure value.
struct UtteranceTracker: Sendable, Hashable {
    /// A recognition in progress or completed.
    private struct Request: Hashable {
        let id: RecognitionID
        let isPartial: Bool
        let startedAt: Instant
        /// Speech that the request covers.
        let voiced: Duration
    }

    /// The result of recognizing everything said up to the current pause.
    struct Outcome: Hashable {
        var text: String
        var took: Duration?
    }

    enum Step: Hashable {
        case recognize(isPartial: Bool)
    }

    /// What the sound of the utterance says about its end.
    private struct Judgement: Hashable {
        let id: RecognitionID
        /// Speech that it covers.
        let voiced: Duration
        /// Nil until the turn detector has answered.
        var probability: Float?
    }

    let number: Int
    private(set) var revision = 0
    private(set) var language = ""
    /// Text of pieces whose audio is no longer kept.
    private var settled = ""
    /// Text of the current piece, partial or final.
    private var current = ""
    /// Speech covered by `current`, if it is final.
    private var finalVoiced: Duration?
    private var finalTook: Duration?
    private var inFlight: Request?
    private var lastPartialVoiced = Duration.zero
    private var slowest = Duration.zero
    /// Audio of the current piece, including pauses.
    private(set) var pieceLength = Duration.zero
    private(set) var length = Duration.zero
    private(set) var silence = Duration.zero
    /// The end of the last window with speech.
    private(set) var lastSpeechAt: Instant
    private var settlesWithResult = false
    private(set) var hasFailed = false
    private var judgement: Judgement?
    private(set) var loudness = Loudness()
    /// The text that was final before the utterance went on; nil if it never ended.
    private(set) var earlierText: String?

    init(number: Int, at now: Instant) {
        self.number = number
        lastSpeechAt = now
    }

    /// Speech that follows the end of the utterance belongs to it. All audio that is kept is recognized again.
    mutating func reopen(at now: Instant) {
        earlierText = text
        finalVoiced = nil
        finalTook = nil
        lastPartialVoiced = .zero
        settlesWithResult = false
        hasFailed = false
        judgement = nil
        silence = .zero
        lastSpeechAt = now
    }

    var text: String { Self.joined(settled, current) }

    /// The text of everything said, once it is recognized completely.
    func outcome(voiced: Duration) -> Outcome? {
        if hasFailed { return Outcome(text: text) }
        guard finalVoiced == voiced else { return nil }
        return Outcome(text: text, took: finalTook)
    }

    /// Advances by one window.
    ///
    /// - Parameters:
    ///   - level: of the window, in dBov.
    ///   - voiced: speech of the utterance so far.
    ///   - recognizeAfter: silence after which it is recognized.
    mutating func advance(
        by window: Duration, level: Double, silence: Duration, voiced: Duration, recognizeAfter: Duration, settings: TurnSettings,
        at now: Instant
    ) -> Step? {
        length += window
        pieceLength += window
        self.silence = silence
        if silence == .zero {
            lastSpeechAt = now
            loudness.append(level)
        }
        if let inFlight, isOverdue(at: now, settings) { fail(inFlight.id) }
        // The piece is settled by its final result; until then more audio may be appended.
        let mustSettle = pieceLength >= settings.pieceMax || (pieceLength >= settings.pieceMin && silence >= piecePause(settings))
        if mustSettle, !settlesWithResult, finalVoiced != voiced {
            settlesWithResult = true
            return .recognize(isPartial: false)
        }
        if silence >= recognizeAfter { return needsRecognition(voiced: voiced) ? .recognize(isPartial: false) : nil }
        // At most a fifth of the recognizer's time goes into partial results of one user.
        let interval = max(settings.partialInterval, slowest * 5)
        if silence == .zero, inFlight == nil, voiced - lastPartialVoiced >= interval { return .recognize(isPartial: true) }
        return nil
    }

    /// Decreases from `TurnSettings.piecePause` by a thirtieth of the length beyond `pieceMin`.
    private func piecePause(_ settings: TurnSettings) -> Duration {
        max(settings.piecePause - (pieceLength - settings.pieceMin) / 30, .milliseconds(96))
    }

    /// Whether no final recognition covers everything said.
    func needsRecognition(voiced: Duration) -> Bool {
        finalVoiced != voiced && !(inFlight.map { !$0.isPartial && $0.voiced == voiced } ?? false)
    }

    func isOverdue(at now: Instant, _ settings: TurnSettings) -> Bool {
        inFlight.map { now - $0.startedAt > settings.recognitionTimeout } ?? false
    }

    /// - Returns: the request that this one replaces.
    mutating func started(_ id: RecognitionID, isPartial: Bool, voiced: Duration, at now: Instant) -> RecognitionID? {
        defer { inFlight = Request(id: id, isPartial: isPartial, startedAt: now, voiced: voiced) }
        lastPartialVoiced = voiced
        return inFlight?.id
    }

    /// Takes a result.
    ///
    /// - Returns: whether the text has changed; nil if the result is of no request in progress.
    mutating func recognized(_ id: RecognitionID, _ recognition: Recognition, at now: Instant) -> (changed: Bool, settles: Bool)? {
        guard let request = inFlight, request.id == id else { return nil }
        let text = recognition.text.trimmingSpaces()
        let changed = text != current
        current = text
        if !recognition.language.isEmpty { language = recognition.language }
        guard recognition.isFinal else { return (changed, false) }
        inFlight = nil
        slowest = max(slowest, now - request.startedAt)
        guard !request.isPartial else { return (changed, false) }
        finalVoiced = request.voiced
        finalTook = now - request.startedAt
        guard settlesWithResult else { return (changed, false) }
        settlesWithResult = false
        settled = self.text
        current = ""
        pieceLength = .zero
        return (changed, true)
    }

    /// - Returns: false if the request is not in progress.
    @discardableResult
    mutating func fail(_ id: RecognitionID) -> Bool {
        guard let request = inFlight, request.id == id else { return false }
        inFlight = nil
        // A partial result may be missing; the final one may not.
        if !request.isPartial { hasFailed = true }
        return true
    }

    // MARK: The end by its sound

    mutating func awaitJudgement(_ id: RecognitionID, voiced: Duration) {
        judgement = Judgement(id: id, voiced: voiced)
    }

    /// - Returns: false if the judgement is not awaited.
    mutating func judged(_ id: RecognitionID, _ probability: Float) -> Bool {
        guard judgement?.id == id else { return false }
        judgement?.probability = probability
        return true
    }

    /// The probability that the user has finished; nil if it is not known for everything said.
    func endProbability(voiced: Duration) -> Float? { judgement?.voiced == voiced ? judgement?.probability : nil }

    func awaitsJudgement(voiced: Duration) -> Bool { judgement?.voiced == voiced && judgement?.probability == nil }

    mutating func nextRevision() -> Int {
        defer { revision += 1 }
        return revision
    }

    var requestInFlight: RecognitionID? { inFlight?.id }

    private static func joined(_ first: String, _ second: String) -> String {
        first.isEmpty ? second : second.isEmpty ? first : first + " " + second
    }
}
