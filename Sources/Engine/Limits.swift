internal import Wire

/// Every limit of the engine in one place. Those that the wire promises are in `ProtocolLimits`.
package enum Limits {
    /// Frames older than this are dropped before they leave (PROTOCOL section 5).
    package static let liveAgeMax: Duration = .milliseconds(200)
    /// Towards an agent late is better than lost.
    package static let liveAgeMaxToAgent: Duration = .seconds(2)
    /// Frames waiting for one subscriber, over all tracks; the oldest is dropped first.
    package static let outboxFramesMax = 2_048
    /// Control messages waiting for one subscriber, in bytes; beyond it the subscriber is a slow consumer.
    package static let controlBacklogBytesMax = 256 * 1_024
    /// Replayed events waiting for one client, in bytes. More than any replay has: the kept transcript segments and one resume's events are
    /// 3.2 MB and 1 MiB at most, and `hello` is accepted whatever its size.
    package static let replayBytesMax = 4 << 20
    /// Requests of one participant per second, and at once. Clients send a few per second; an assistant that streams transcripts, some tens.
    package static let requestsPerSecond = 100
    package static let requestBurst = 200
    /// The same for `ping` and `playout.progress`: five progress reports a second for each of 200 tracks.
    package static let reportsPerSecond = 1_000
    package static let reportBurst = 2_000
    /// Bytes of events per second that one participant's requests may cause, counted once per recipient, and at once: a tenth of what a
    /// shard can send. The burst lets 250 recipients have a message of the greatest size.
    package static let requestCostPerSecond = 4 << 20
    package static let requestCostBurst = 16 << 20
    /// Frames held by one shard's store; beyond it new frames are dropped and counted.
    package static let storedFramesMax = 65_536
    /// A subscriber of an `ahead` track gets more once less than this is left of what it has, looked at every 20 ms.
    package static let aheadRefillLead: Duration = .milliseconds(200)
    /// With less than this in hand it gets more between two looks too.
    package static let aheadUrgentSpan: Duration = .milliseconds(40)
    /// An `ahead` track has run dry when less than this is left to play, and nothing waits.
    package static let aheadDryNotice: Duration = .milliseconds(100)
    /// What was let out of an `ahead` track is kept so long, for subscribers that resume from where they said that they were.
    package static let aheadKeptSpan: Duration = .seconds(30)
    /// And so long in any case.
    package static let aheadRecentSpan: Duration = .seconds(3)
    /// How often at most a room tells what is to be kept.
    package static let aheadKeepInterval: Duration = .seconds(1)
    /// Bytes of it that are kept at most; a subscriber that is further behind loses them.
    package static let aheadKeptBytesMax = 1 << 20
    /// Bytes of one `ahead` track that may wait to be let out: a minute at 256 kbit/s. Beyond it new frames are refused.
    package static let aheadWaitingBytesMax = 2 << 20
    /// Bytes that all `ahead` tracks of one shard may keep; beyond it new frames are refused.
    package static let aheadStoredBytesMax = 256 << 20
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
    /// Marks of one `ahead` track that wait, and clears of it that its publisher's shard has not done yet.
    package static let marksWaitingMax = 1_000
    package static let clearsWaitingMax = 16
    package static let markNameBytesMax = 256
    /// The reason of a `playout.clear`.
    package static let clearReasonBytesMax = 256
    /// A mark that nothing reaches is given up so long after the last that could have.
    package static let markQuietMax: Duration = .seconds(5)
    /// The same while there is audio that stands still (muted, or nobody gets on): longer than the audio that may be ahead.
    package static let markStillMax: Duration = .seconds(65)
    /// A track that has run dry has not ended before this pause, so that a stream that is a little late is one utterance.
    package static let playoutLinger: Duration = .milliseconds(100)
    /// What is let out so long after the end of an utterance that nobody gets to is the next one.
    package static let playoutStallMax: Duration = .seconds(1)
    /// How much of an utterance is taken to be heard without a report from those who are known to report.
    package static let playoutUnreportedMax: Duration = .milliseconds(500)
    /// How much that was let out since a subscriber's report it is taken to have got.
    package static let playoutRefillMax: Duration = .milliseconds(200)
    /// A report that is behind what the one before lets expect by no more than this was late on its way.
    package static let playoutReportLatenessMax: Duration = .milliseconds(40)
    /// An assistant's `speaking` is told after this even if nothing of it was heard.
    package static let speakingUnheardMax: Duration = .seconds(5)
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
    /// Calls that one user may be in or be called to at once.
    package static let callsPerUserMax = 8
    /// Devices of one user that hear of its calls; one more and the oldest goes.
    package static let callDevicesPerUserMax = 16
    /// The same of one assistant, whose every process has all of them in its `hello`.
    package static let callsPerAssistantMax = 200
    /// Processes of one assistant that hear of its calls; one more and the oldest goes.
    package static let callDevicesPerAssistantMax = 256
    /// Calls that go on, over all users.
    package static let callsMax = 10_000
    /// Calls that are over and still answered for, and how long: as long as a request may be repeated.
    package static let callsOverKeptMax = 4_096
    package static let callOverKeptSpan: Duration = .seconds(120)
    /// Calls that one user may begin, and times it may invite to one, a second and at once.
    package static let callStartsPerSecond = 1
    package static let callStartBurst = 10
    /// Requests that one device may make on its user's own channel, a second and at once.
    package static let deviceRequestsPerSecond = 20
    package static let deviceRequestBurst = 100
    /// How often quality is judged and a token refreshed.
    package static let qualityInterval: Duration = .seconds(5)
    package static let tokenRefreshInterval: Duration = .seconds(300)
    /// What one participant's profile updates and requested tokens may cost, in bytes sent to all recipients. Beyond it updates coalesce.
    package static let profileBytesPerSecond = 256 * 1_024
    package static let profileBurstBytes = 1_024 * 1_024
    /// Changes of a profile cause at most one fresh token in this time.
    package static let profileTokenInterval: Duration = .seconds(5)
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
    /// What of it is told outside.
    package var reporting: RoomReporting

    package init(
        emptyTimeout: Duration = .seconds(300), departureTimeout: Duration = .seconds(20),
        resumeWindow: Duration = .milliseconds(ProtocolLimits.resumeWindowMilliseconds), maxParticipants: Int = 0,
        metadata: String = "", silenceLimit: Duration = .seconds(10), reporting: RoomReporting = .nothing
    ) {
        self.emptyTimeout = emptyTimeout
        self.departureTimeout = departureTimeout
        self.resumeWindow = resumeWindow
        self.maxParticipants = maxParticipants
        self.metadata = metadata
        self.silenceLimit = silenceLimit
        self.reporting = reporting
    }
}
