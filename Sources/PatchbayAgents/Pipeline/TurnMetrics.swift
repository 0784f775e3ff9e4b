internal import Wire

/// How long the stages of one turn took. Milliseconds from the end of the user's speech, unless stated otherwise; nil for a stage that did not
/// take place.
public struct TurnMetrics: Sendable, Hashable, Codable {
    /// Number of the turn in its call.
    public var turn: Int
    /// Until the assistant decided that the user had finished.
    public var endOfTurnMs: Int?
    /// Duration of the final recognition, most of which passes before the end of the turn.
    public var recognitionMs: Int?
    /// From the end of the turn to the responder's first text.
    public var firstTokenMs: Int?
    /// From the end of the turn to the first synthesized audio.
    public var firstAudioMs: Int?
    /// Until the gateway released the first audio to the user.
    public var voiceToVoiceMs: Int?
    public var interrupted: Bool

    public init(
        turn: Int, endOfTurnMs: Int? = nil, recognitionMs: Int? = nil, firstTokenMs: Int? = nil, firstAudioMs: Int? = nil,
        voiceToVoiceMs: Int? = nil, interrupted: Bool = false
    ) {
        self.turn = turn
        self.endOfTurnMs = endOfTurnMs
        self.recognitionMs = recognitionMs
        self.firstTokenMs = firstTokenMs
        self.firstAudioMs = firstAudioMs
        self.voiceToVoiceMs = voiceToVoiceMs
        self.interrupted = interrupted
    }
}

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
