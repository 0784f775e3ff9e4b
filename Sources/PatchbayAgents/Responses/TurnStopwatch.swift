internal import Wire

/// Collects the times of a turn in progress. A pure value.
struct TurnStopwatch: Sendable, Hashable {
    /// Speech of the same turn before the response.
    private struct Filler: Hashable {
        let length: Duration
        var startedAt: Instant?
    }

    /// The part of the response time that an assistant cannot observe: the delay of the Opus codec in both directions (6.5 ms each), and
    /// that of a client that plays in steps of 20 ms (10 ms on average).
    static let unseenDelay = Duration.milliseconds(23)

    let end: EndOfTurn
    private(set) var metrics: TurnMetrics
    private var filler: Filler?
    /// Between the beginning of the response's audio and its first sound.
    private var silence = Duration.zero

    init(_ turn: TurnID, _ end: EndOfTurn) {
        self.end = end
        metrics = TurnMetrics(
            turn: turn.value, endOfTurnMs: Int((end.decided - end.speechEnded).inMilliseconds),
            recognitionMs: end.recognition.map { Int($0.inMilliseconds) })
    }

    mutating func firstToken(at now: Instant) {
        if metrics.firstTokenMs == nil { metrics.firstTokenMs = Int((now - end.decided).inMilliseconds) }
    }

    /// The first audio of the response is there, and begins with `silence`.
    mutating func firstAudio(at now: Instant, after silence: Duration = .zero) {
        guard metrics.firstAudioMs == nil else { return }
        self.silence = silence
        metrics.firstAudioMs = Int((now - end.decided).inMilliseconds)
        if let filler, let startedAt = filler.startedAt, startedAt + filler.length > now { responded(after: filler, at: startedAt) }
    }

    /// A filler of this length is spoken first.
    mutating func filled(for length: Duration) {
        filler = Filler(length: length)
    }

    mutating func playoutStarted(at now: Instant) {
        if let filler, filler.startedAt == nil {
            self.filler?.startedAt = now
            if metrics.firstAudioMs != nil { responded(after: filler, at: now) }
        } else if metrics.firstAudioMs != nil {
            responded(at: now)
        }
    }

    mutating func interrupted() {
        metrics.interrupted = true
    }

    /// The response follows the filler, without a further report of the gateway.
    private mutating func responded(after filler: Filler, at startedAt: Instant) {
        responded(at: startedAt + filler.length + SpeechOutput.pauseBetweenSentences)
    }

    /// The response's audio begins to be played.
    private mutating func responded(at time: Instant) {
        if metrics.voiceToVoiceMs == nil {
            metrics.voiceToVoiceMs = Int((time + silence + Self.unseenDelay - end.speechEnded).inMilliseconds)
        }
    }
}
