package import Wire

/// All limits of the engine. Those that the protocol promises are in `ProtocolLimits`.
package enum Limits {
    /// Live frames expire after this time (docs/protocol/media.md, "Queues and pacing").
    package static let liveAgeMax: Duration = .milliseconds(200)
    /// The same towards agents, which prefer late frames to lost ones.
    package static let liveAgeMaxToAgent: Duration = .seconds(2)
    /// Queued frames of one subscriber, over all tracks; the oldest is dropped first.
    package static let outboxFramesMax = 2_048
    /// Queued control messages of one subscriber, in bytes; beyond it the subscriber is a slow consumer.
    package static let controlBacklogBytesMax = 256 * 1_024
    /// Replayed events waiting for one client, in bytes. More than any replay has: the kept transcript segments and one resume's events are
    /// 3.2 MB and 1 MiB at most, and `hello` is accepted whatever its size.
    package static let replayBytesMax = 4 << 20
    /// Requests of one participant per second, and at once. Clients send a few per second; an assistant that streams transcripts, some tens.
    package static let requestsPerSecond = 200
    package static let requestBurst = 1_000
    /// The same for `ping` and `playout.progress`: five progress reports a second for each of 200 tracks.
    package static let reportsPerSecond = 1_000
    package static let reportBurst = 2_000
    /// Bytes of events per second that one participant's requests may cause, counted once per recipient, and at once: a tenth of what a
    /// shard can send. The burst covers one message of maximum size to 250 recipients.
    package static let requestCostPerSecond = 4 << 20
    package static let requestCostBurst = 16 << 20
    /// Frames stored by one shard; beyond it new frames are dropped.
    package static let storedFramesMax = 65_536
    /// A subscriber of an `ahead` track is refilled when less than this is buffered; checked every 20 ms.
    package static let aheadRefillLead: Duration = .milliseconds(200)
    /// Below this it is refilled between two ticks too.
    package static let aheadUrgentSpan: Duration = .milliseconds(40)
    /// A drained `ahead` track is reported when less than this is left to play.
    package static let aheadDrainedNotice: Duration = .milliseconds(100)
    /// How often the end of the received audio of an `ahead` track is reported while it plays, and how long after the clock has started first.
    package static let aheadReceivedInterval: Duration = .seconds(1)
    package static let aheadReceivedNotice: Duration = .milliseconds(200)
    /// Released frames of an `ahead` track are retained this long for subscribers that resume from a reported position.
    package static let aheadRetainedSpan: Duration = .seconds(30)
    /// Minimum retention of released frames.
    package static let aheadRecentSpan: Duration = .seconds(3)
    /// Minimum time between retention updates.
    package static let aheadRetentionInterval: Duration = .seconds(1)
    /// Retained bytes per track; a subscriber that is further behind loses frames.
    package static let aheadRetainedBytesMax = 1 << 20
    /// Unreleased bytes of one `ahead` track: a minute at 256 kbit/s. Beyond it new frames are dropped.
    package static let aheadWaitingBytesMax = 2 << 20
    /// Bytes of all `ahead` tracks of one shard; beyond it new frames are dropped.
    package static let aheadStoredBytesMax = 256 << 20
    /// Audio of one microphone that is kept for an agent that is on its way, the oldest frames beyond it are dropped.
    package static let earlierSpeechMax: Duration = .seconds(5)
    /// Kept frames are dropped after this time: the user has been silent or muted since.
    package static let earlierAgeMax: Duration = .seconds(15)
    /// Memory for the kept frames of one track: 5 s at 95 kbit/s.
    package static let earlierTrackBytes = 64 << 10
    /// Kept tracks of one room; one more takes the place of the one that was published first.
    package static let earlierTracksPerRoomMax = 16
    /// Memory for kept frames of the process, shared equally by its shards; a track beyond it takes the place of the one kept longest.
    package static let earlierBytesMax = 64 << 20
    /// A timer that fires later than this was held up by a pause of the process, and not by load alone.
    package static let pauseMin: Duration = .seconds(2)
    /// Malformed messages per second before a connection is closed.
    package static let malformedPerSecondMax = 100
    /// Published tracks per participant.
    package static let tracksPerParticipantMax = 20
    package static let trackNameBytesMax = 256
    /// The topic of `data.send` and `text.send`.
    package static let topicBytesMax = 256
    /// Transcript segments kept for participants that join later.
    package static let segmentsKeptMax = 50
    package static let segmentIDBytesMax = 128
    /// The largest integer of 32-bit clients.
    package static let segmentRevisionMax = Int(Int32.max)
    package static let segmentTextBytesMax = 16 * 1_024
    /// Words in one segment.
    package static let segmentWordsMax = 4_096
    /// Pending marks of one `ahead` track, and clears that its publisher's shard has not completed.
    package static let marksPendingMax = 1_000
    package static let clearsPendingMax = 16
    package static let markNameBytesMax = 256
    /// The reason of a `playout.clear`.
    package static let clearReasonBytesMax = 256
    /// A mark is abandoned this long after the last audio that could have reached it.
    package static let markQuietMax: Duration = .seconds(5)
    /// The same while audio is stalled (muted, or no subscriber progresses): longer than the audio that may be ahead.
    package static let markStalledMax: Duration = .seconds(65)
    /// Pause before a drained track counts as finished, so that a slightly late stream stays one utterance.
    package static let playoutLinger: Duration = .milliseconds(100)
    /// Frames released this long after the end of a stalled utterance start the next one.
    package static let playoutStallMax: Duration = .seconds(1)
    /// Limit of the playout estimate while a subscriber known to report is silent.
    package static let playoutUnreportedMax: Duration = .milliseconds(500)
    /// Limit of the audio released since a subscriber's report that it is assumed to have received.
    package static let playoutRefillMax: Duration = .milliseconds(200)
    /// A report that lags the expected position by at most this was delayed on its way.
    package static let playoutReportLatenessMax: Duration = .milliseconds(40)
    /// Playout is assumed to have gone on for at most this long after a room's last image: images of speech are renewed more often.
    package static let playoutUnseenMax: Duration = .seconds(2)
    /// An agent's `speaking` is reported after this time even without playout.
    package static let speakingUnplayedMax: Duration = .seconds(5)
    /// Pending remote procedure calls per caller, and of all administrators in one room.
    package static let proceduresPendingMax = 100
    /// LiveKit's limit for the name of a method.
    package static let procedureNameBytesMax = 64
    package static let procedureTimeoutMax: Duration = .seconds(60)
    /// Digits in one `dtmf.send`.
    package static let digitsMax = 64
    /// Bytes of one participant's event log.
    package static let eventLogBytesMax = 1_024 * 1_024
    /// Age limit of the event log. A lost connection is detected within the ping timeout, and given up a resume window later.
    package static let eventLogAgeMax: Duration = .seconds(60)
    /// Interval of active speaker detection (LiveKit's default).
    package static let speakerInterval: Duration = .milliseconds(400)
    /// LiveKit's `active_level` and `min_percentile`.
    package static let speakerActiveLevel = 35
    package static let speakerActivePercent = 40
    package static let speakerSmoothIntervals = 2
    /// Levels above this, in -dBov, are not silence.
    package static let silenceLevel = 50
    /// A talkspurt ends after this long without a frame.
    package static let talkspurtPause: Duration = .milliseconds(300)
    /// A talkspurt ends after this long with silent frames only.
    package static let talkspurtQuiet: Duration = .milliseconds(500)
    /// Calls per user.
    package static let callsPerUserMax = 8
    /// Devices per user; one more evicts the oldest.
    package static let callDevicesPerUserMax = 16
    /// Calls per assistant. Each of its processes receives all of them in `hello`.
    package static let callsPerAssistantMax = 200
    /// Processes per assistant; one more evicts the oldest.
    package static let callDevicesPerAssistantMax = 256
    /// Active calls, over all users.
    package static let callsMax = 10_000
    /// Ended calls kept to answer repeated requests, and for how long.
    package static let callsOverKeptMax = 4_096
    package static let callOverKeptSpan: Duration = .seconds(120)
    /// Calls that one user may start, and invitations it may send, per second and in a burst.
    package static let callStartsPerSecond = 1
    package static let callStartBurst = 10
    /// Requests of one device on its user's channel, per second and in a burst.
    package static let deviceRequestsPerSecond = 20
    package static let deviceRequestBurst = 100
    /// The same for an assistant's process, which may get the jobs of a worker that was lost with all of its own.
    package static let assistantRequestsPerSecond = 200
    package static let assistantRequestBurst = 1_000
    /// Time that a worker has to accept or decline a job.
    package static let jobOfferMax: Duration = .seconds(1)
    /// Time until a job that no worker has taken fails.
    package static let jobPendingMax: Duration = .seconds(10)
    /// The same for a job whose agent was lost: a worker may have to load its models first.
    package static let jobLostMax: Duration = .seconds(30)
    /// Pause after which a job is offered again to workers that did not take it.
    package static let jobRetryInterval: Duration = .seconds(1)
    /// Time from accepting a job to the agent's join.
    package static let jobJoinMax: Duration = .seconds(10)
    /// Time in which an agent with a lost connection may resume before another worker gets its job.
    package static let jobAgentAwayMax: Duration = .seconds(1)
    /// An attempt counts as failed if the agent was in the room for less than this.
    package static let jobRunMin: Duration = .seconds(2)
    /// Consecutive failed attempts after which a job fails.
    package static let jobFailuresMax = 5
    /// Active jobs, over all rooms, and in one room.
    package static let jobsMax = 10_000
    package static let jobsPerRoomMax = 16
    /// Ended jobs kept for listings and to refuse their agents' tokens, and for how long.
    package static let jobsOverKeptMax = 4_096
    package static let jobOverKeptSpan: Duration = .seconds(120)
    /// Workers, over all assistants, and the capacity of one.
    package static let workersMax = 10_000
    package static let workerCapacityMax = 1_000
    /// Resume tokens after the latest one of a room's image that the next node accepts: how many resumes a participant may have made since.
    package static let resumeTokensAheadMax = 8
    /// Interval of token refreshes.
    package static let tokenRefreshInterval: Duration = .seconds(300)
    /// Bytes that one participant's profile updates and requested tokens may send to all recipients. Beyond it updates coalesce.
    package static let profileBytesPerSecond = 256 * 1_024
    package static let profileBurstBytes = 1_024 * 1_024
    /// Changes of a profile cause at most one fresh token in this time.
    package static let profileTokenInterval: Duration = .seconds(5)
}

/// Counts malformed messages of one peer; `Limits.malformedPerSecondMax` in a second close it.
package struct MalformedMessageCounter: Sendable, Hashable {
    private var since: Instant
    private var count = 0

    package init(now: Instant) {
        since = now
    }

    /// Counts a message.
    ///
    /// - Returns: whether to close the peer.
    package mutating func exceedsLimit(afterMessageAt now: Instant) -> Bool {
        if now - since >= .seconds(1) {
            since = now
            count = 0
        }
        count += 1
        return count >= Limits.malformedPerSecondMax
    }
}
