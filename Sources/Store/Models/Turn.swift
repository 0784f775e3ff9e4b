/// One utterance in a session.
package struct Turn: Sendable, Hashable {
    package enum Speaker: String, Sendable, Codable {
        case user, assistant
    }

    package var id: TurnID
    package var sessionID: SessionID
    /// When it began.
    package var timestamp: WallTime
    package var speaker: Speaker
    package var text: String
    /// The name of the recording in which it can be heard.
    package var audioRef: String?
    /// How long it was spoken, in milliseconds; nil where nobody told.
    package var durationMs: Int?

    package init(
        id: TurnID, sessionID: SessionID, timestamp: WallTime, speaker: Speaker, text: String, audioRef: String? = nil,
        durationMs: Int? = nil
    ) {
        self.id = id
        self.sessionID = sessionID
        self.timestamp = timestamp
        self.speaker = speaker
        self.text = text
        self.audioRef = audioRef
        self.durationMs = durationMs
    }
}
