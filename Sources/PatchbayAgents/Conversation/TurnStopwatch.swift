internal import Wire

/// Collects the times of a turn in progress. A pure value.
struct TurnStopwatch: Sendable, Hashable {
    private let end: EndOfTurn
    private(set) var metrics: TurnMetrics

    init(_ turn: TurnID, _ end: EndOfTurn) {
        self.end = end
        metrics = TurnMetrics(
            turn: turn.value, endOfTurnMs: Int((end.decided - end.speechEnded).inMilliseconds),
            recognitionMs: end.recognition.map { Int($0.inMilliseconds) })
    }

    mutating func firstToken(at now: Instant) {
        if metrics.firstTokenMs == nil { metrics.firstTokenMs = Int((now - end.decided).inMilliseconds) }
    }

    mutating func firstAudio(at now: Instant) {
        if metrics.firstAudioMs == nil { metrics.firstAudioMs = Int((now - end.decided).inMilliseconds) }
    }

    mutating func playoutStarted(at now: Instant) {
        if metrics.voiceToVoiceMs == nil { metrics.voiceToVoiceMs = Int((now - end.speechEnded).inMilliseconds) }
    }

    mutating func interrupted() {
        metrics.interrupted = true
    }
}
