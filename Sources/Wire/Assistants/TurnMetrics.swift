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

extension TurnMetrics {
    /// A part of a turn that is measured, by its name in `/metrics`.
    package enum Stage: String, Sendable, CaseIterable {
        case endOfTurn = "end_of_turn"
        case recognition
        case firstToken = "first_token"
        case firstAudio = "first_audio"
        case voiceToVoice = "voice_to_voice"
    }

    /// Nil if the stage did not take place.
    package func milliseconds(of stage: Stage) -> Int? {
        switch stage {
        case .endOfTurn: endOfTurnMs
        case .recognition: recognitionMs
        case .firstToken: firstTokenMs
        case .firstAudio: firstAudioMs
        case .voiceToVoice: voiceToVoiceMs
        }
    }

    /// The first problem, starting with the field: "`first_token_ms` must be 0 to 3600000". Nil if all values are within their limits.
    package var fault: String? {
        if turn < 0 { return "`turn` must not be negative" }
        let range = 0...ProtocolLimits.turnStageMillisecondsMax
        return Stage.allCases.first { stage in milliseconds(of: stage).map { !range.contains($0) } ?? false }
            .map { "`\($0.rawValue)_ms` must be \(range.lowerBound) to \(range.upperBound)" }
    }
}
