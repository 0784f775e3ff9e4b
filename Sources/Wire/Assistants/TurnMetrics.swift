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
