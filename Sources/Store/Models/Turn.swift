internal import Identity
internal import Wire

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
    /// The name of the recording that contains it.
    package var audioRef: String?
    /// How long it was spoken, in milliseconds; nil if unknown.
    package var durationMs: Int?
    /// The revision of its transcript segment: a later one replaces the turn.
    package var revision: Int

    package init(
        id: TurnID, sessionID: SessionID, timestamp: WallTime, speaker: Speaker, text: String, audioRef: String? = nil,
        durationMs: Int? = nil, revision: Int = 0
    ) {
        self.id = id
        self.sessionID = sessionID
        self.timestamp = timestamp
        self.speaker = speaker
        self.text = text
        self.audioRef = audioRef
        self.durationMs = durationMs
        self.revision = revision
    }
}

extension TurnID {
    /// The identifier of the turn that a transcript segment becomes: a UUID of version 8 (RFC 9562) made of a hash, the same for every revision.
    package init(session: SessionID, segment: String) {
        var bytes = Array(SHA2.digest(of: Array("\(session) \(segment)".utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += Hex.encode([byte])
        }
        guard let id = TurnID(text: text) else { preconditionFailure("sixteen bytes make a UUID") }
        self = id
    }
}
