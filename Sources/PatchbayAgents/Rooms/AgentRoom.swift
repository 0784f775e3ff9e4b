internal import PatchbayClient
internal import Wire

/// The room as a pipeline needs it: a joined room, or a terminal without a gateway.
///
/// Messages are queued and sent in order; the room logs failures.
protocol AgentRoom: Sendable {
    /// Sends a segment of a transcript.
    func publish(_ segment: TranscriptSegment)
    func setState(_ state: AgentState)
    /// Sends a typed data message to the users.
    func send(_ message: AssistantMessage)
    /// Leaves the room.
    func leave(reason: String)

    // MARK: The assistant's track, of mode `ahead`

    /// Nil if it has ended.
    var voiceTrack: TrackSID? { get }
    /// The time of the next frame; nil if the track has ended.
    func voicePosition() async -> MediaTime?
    /// Sends a frame, ahead of real time.
    func speak(_ frame: SpokenFrame, at time: MediaTime) throws
    /// Discards what was not played.
    func clearVoice(reason: String) async throws -> HeardPosition
}

/// An event in the room of a pipeline.
enum AgentRoomEvent: Sendable {
    case userJoined(Identity, name: String)
    /// - Parameter mayReturn: the connection was lost, rather than the conversation ended.
    case userLeft(Identity, mayReturn: Bool)
    case microphone(TrackInfo)
    case frame(TrackSID, ReceivedFrame)
    /// Muted, unpublished, or the user is on hold: an utterance in progress ends.
    case microphonePaused(TrackSID)
    case microphoneEnded(TrackSID)
    case text(Identity, String)
    case digits(Identity, String)
    case data(Identity, topic: String, text: String)
    /// All users are on hold, or no longer all of them.
    case held(Bool)
    /// The assistant's speech.
    case playoutStarted
    /// Everything sent up to this time on the track was played; nil if the time is not known.
    case playoutFinished(MediaTime?)
    /// A transcript segment of another participant, or a revision of one of the assistant's own by the gateway.
    case segment(TranscriptSegment)
    /// The assistant's track is new, and what was not played is lost.
    case rejoined
    /// The session was resumed, and frames of the assistant's track were lost with the connection.
    case resumedWithLoss
    /// The session was resumed on another node, and the unplayed part of the assistant's track is lost: it was played up to this time; nil
    /// if none of it is known to have been played.
    case queueLost(MediaTime?)
    /// The room has ended, or the connection was lost for good.
    case ended
}
