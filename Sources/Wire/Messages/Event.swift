/// An event that the gateway sends to a client (docs/protocol/events.md).
public enum Event: Sendable, Hashable {
    case hello(Hello)
    case participantJoined(ParticipantInfo)
    case participantLeft(Identity, reason: DisconnectReason)
    case participantUpdated(ParticipantInfo, connection: ConnectionState)
    case trackPublished(TrackInfo)
    case trackUnpublished(TrackSID, of: Identity)
    case trackMuted(TrackSID, of: Identity)
    case trackUnmuted(TrackSID, of: Identity)
    case speakersChanged([Speaker])
    case qualityChanged(Identity, ConnectionQuality)
    case talkStarted(Identity, TrackSID, at: MediaTime)
    case talkStopped(Identity, TrackSID, at: MediaTime, reason: TalkEnd)
    /// Frames follow that were published before this agent subscribed, from `from` on; live frames have the timestamp `live` or a later one.
    case talkEarlier(Identity, TrackSID, from: MediaTime, live: MediaTime)
    case silence(Identity, milliseconds: Int)
    case segment(TranscriptSegment)
    case agentState(Identity, AgentState)
    case agentJoined(ParticipantInfo)
    case agentLost(Identity, reason: DisconnectReason)
    /// An assistant was asked for and cannot come yet, or does not come. Superseded when it joins.
    case agentWaiting(Identity, reason: AgentWaitReason)
    case data(from: Identity, topic: String, DataPayload)
    case text(id: String, from: Identity, topic: String, text: String)
    case procedureCalled(requestID: String, from: Identity, method: String, payload: String, timeoutMilliseconds: Int)
    case digits(from: Identity, String)
    /// `at` is the position played when the mark was resolved; nil if nothing was played.
    case playoutMarked(TrackSID, name: String, MarkStatus, at: MediaTime?)
    /// `by` is the participant that cleared the track.
    case playoutCleared(ClearedPlayout, by: Identity)
    /// The gateway starts to release an utterance, from its first frame at `at`.
    case playoutStarted(TrackSID, of: Identity, epoch: UInt8, at: MediaTime)
    /// Everything that was published has been played.
    case playoutFinished(TrackSID, of: Identity, epoch: UInt8, HeardPosition)
    /// To the publisher: how far it is ahead, and how many frames were rejected since the last report.
    case playoutBacklog(TrackSID, BacklogState, queuedMs: Int, dropped: Int)
    case callHeld(by: Identity)
    case callResumed(by: Identity)
    /// The participant is muted as a whole, including tracks that it publishes later. Its tracks keep their own mute state.
    case callMuted(by: Identity)
    case callUnmuted(by: Identity)
    case callEnded(reason: String)
    case roomUpdated(RoomInfo)
    case recordingStarted(RecordingID)
    case recordingStopped(RecordingID, RecordingEnd)
    case tokenRefreshed(token: String, expiresAt: Int64)
    case serverDraining(deadline: Int64)
    case bye(DisconnectReason, retryable: Bool)
    case stats(ConnectionStats)
}

/// Why an assistant that was asked for is not in the room.
public enum AgentWaitReason: String, Sendable, Codable, CaseIterable {
    /// Its workers are full, draining, overloaded, or have declined.
    case busy
    /// No worker of the assistant is connected.
    case noWorker = "no_worker"
    /// It does not come any more: its job has failed or was cancelled.
    case ended
}

public enum ConnectionState: String, Sendable, CaseIterable {
    case connected, reconnecting
}

/// Why a recording ended.
public enum RecordingEnd: String, Sendable, Codable, CaseIterable {
    /// It was stopped on request.
    case asked
    /// Writing failed.
    case failed
}

/// LiveKit's connection quality.
public enum ConnectionQuality: String, Sendable, Codable, CaseIterable {
    case excellent, good, poor, lost
}

/// Why a talkspurt ended.
public enum TalkEnd: String, Sendable, Codable, CaseIterable {
    case end, silence, cleared, muted, left
}

/// A participant that speaks or has just stopped.
public struct Speaker: Sendable, Hashable, Codable {
    public var participant: Identity
    public var track: TrackSID
    /// Linear, 0 to 1, in steps of 1/8.
    public var level: Double
    public var active: Bool

    public init(participant: Identity, track: TrackSID, level: Double, active: Bool) {
        self.participant = participant
        self.track = track
        self.level = level
        self.active = active
    }
}

/// Statistics of the client's own connection, sent every 5 s.
public struct ConnectionStats: Sendable, Hashable, Codable {
    public var rttMs: Double
    /// Frames handed to this subscriber's socket since it joined.
    public var sent: UInt64
    /// Frames dropped because this subscriber was too slow.
    public var dropped: UInt64
    /// 99th percentile of the time that frames of the last 5 s were queued in the gateway.
    public var lateP99Ms: Double

    public init(rttMs: Double, sent: UInt64, dropped: UInt64, lateP99Ms: Double) {
        self.rttMs = rttMs
        self.sent = sent
        self.dropped = dropped
        self.lateP99Ms = lateP99Ms
    }
}
