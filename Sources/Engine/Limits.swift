internal import Wire

/// Every limit of the engine in one place. Those that the wire promises are in `ProtocolLimits`.
package enum Limits {
    /// Frames older than this are dropped before they leave (PROTOCOL section 5).
    package static let liveAgeMax: Duration = .milliseconds(200)
    /// Towards an agent late is better than lost.
    package static let liveAgeMaxToAgent: Duration = .seconds(2)
    /// Frames waiting for one listener, over all tracks; the oldest is dropped first.
    package static let outboxFramesMax = 2_048
    /// Control messages waiting for one listener, in bytes; beyond it the listener is a slow consumer.
    package static let controlBacklogBytesMax = 256 * 1_024
    /// Frames held by one shard's store; beyond it new frames are dropped and counted.
    package static let storedFramesMax = 65_536
    /// Malformed messages of one connection in a second before it is closed.
    package static let malformedPerSecondMax = 100
    /// Tracks that one participant may have published at once.
    package static let tracksPerParticipantMax = 20
    package static let trackNameBytesMax = 256
    /// The topic of `data.send` and `text.send`.
    package static let topicBytesMax = 256
    /// Transcript segments kept for those who join later.
    package static let segmentsKeptMax = 50
    package static let segmentIDBytesMax = 128
    package static let segmentTextBytesMax = 16 * 1_024
    /// Words in one segment.
    package static let segmentWordsMax = 4_096
    /// Remote procedures one participant may have waiting for an answer.
    package static let proceduresPendingMax = 100
    /// LiveKit's limit for the name of a method.
    package static let procedureNameBytesMax = 64
    package static let procedureTimeoutMax: Duration = .seconds(60)
    /// Digits in one `dtmf.send`.
    package static let digitsMax = 64
    /// What the log of one participant's last events may hold, in bytes as they are sent.
    package static let eventLogBytesMax = 1_024 * 1_024
    /// How long it keeps them. A socket that is lost is found out within the ping timeout, and its place given up a resume window later.
    package static let eventLogAgeMax: Duration = .seconds(60)
    /// How often active speakers are worked out (LiveKit's default).
    package static let speakerInterval: Duration = .milliseconds(400)
    /// LiveKit's `active_level` and `min_percentile`.
    package static let speakerActiveLevel = 35
    package static let speakerActivePercent = 40
    package static let speakerSmoothIntervals = 2
    /// Louder than this, in -dBov, is no silence.
    package static let silenceLevel = 50
    /// A talkspurt without a frame for this long is over.
    package static let talkspurtPause: Duration = .milliseconds(300)
    /// A talkspurt of frames that are silent for this long is over.
    package static let talkspurtQuiet: Duration = .milliseconds(500)
    /// How often quality is judged and a token refreshed.
    package static let qualityInterval: Duration = .seconds(5)
    package static let tokenRefreshInterval: Duration = .seconds(300)
}

/// What a configuration or a token may set for one room.
package struct RoomSettings: Sendable, Hashable {
    /// How long a room lives that nobody has joined yet.
    package var emptyTimeout: Duration
    /// How long a room lives after the last one left.
    package var departureTimeout: Duration
    /// How long the place of a participant is kept whose socket is lost; zero gives it up at once.
    package var resumeWindow: Duration
    /// 0 is no limit. Agents do not count.
    package var maxParticipants: Int
    package var metadata: String
    /// How long a participant's silence may last before the room tells.
    package var silenceLimit: Duration

    package init(
        emptyTimeout: Duration = .seconds(300), departureTimeout: Duration = .seconds(20),
        resumeWindow: Duration = .milliseconds(ProtocolLimits.resumeWindowMilliseconds), maxParticipants: Int = 0,
        metadata: String = "", silenceLimit: Duration = .seconds(10)
    ) {
        self.emptyTimeout = emptyTimeout
        self.departureTimeout = departureTimeout
        self.resumeWindow = resumeWindow
        self.maxParticipants = maxParticipants
        self.metadata = metadata
        self.silenceLimit = silenceLimit
    }
}
