/// Every size and rate that the protocol specifies (`docs/protocol`). Sizes are in bytes unless the name says otherwise.
public enum ProtocolLimits {
    /// Length of a frame header (docs/protocol/media.md, "Frames and bundles").
    public static let frameHeaderBytes = 12
    /// The longest Opus packet that is forwarded.
    public static let opusPacketBytesMax = 1_488
    /// The longest frame: header and packet.
    public static let frameBytesMax = frameHeaderBytes + opusPacketBytesMax
    /// The longest binary message.
    public static let messageBytesMax = 16_384
    /// The longest text message.
    public static let controlBytesMax = 65_536
    /// Frames in one bundle.
    public static let bundleFramesMax = 50
    /// Sustained rate and burst of published frames on a `live` track.
    public static let liveFramesPerSecond = 100
    public static let liveBurst = 100
    /// How far the publisher of an `ahead` track may run ahead of playout.
    public static let aheadMilliseconds = 60_000
    /// How much audio of an `ahead` track a subscriber holds before playout, and how much one message carries.
    public static let leadMilliseconds = 300
    public static let bundleMilliseconds = 100
    /// Thresholds at which `playout.backlog` reports `high` and `low`.
    public static let backlogHighMilliseconds = 45_000
    public static let backlogLowMilliseconds = 30_000
    /// How often a subscriber reports its progress during playout.
    public static let progressIntervalMilliseconds = 200
    /// How long a disconnected participant can resume its session, and how many missed events are replayed.
    public static let resumeWindowMilliseconds = 20_000
    public static let resumeEventsMax = 256
    /// Other nodes that `hello` names.
    public static let helloNodesMax = 8
    /// LiveKit's limits.
    public static let metadataBytesMax = 512 * 1_024
    public static let attributesBytesMax = 64 * 1_024
    public static let dataBytesMax = 64_000
    public static let identityBytesMax = 256
    public static let roomNameBytesMax = 256
    public static let participantNameBytesMax = 256
    public static let rpcPayloadBytesMax = 15_360
    public static let rpcErrorBytesMax = 256
    /// Members of one call, including the caller.
    public static let callMembersMax = 32
    public static let callMetadataBytesMax = 1_024
    public static let callReasonBytesMax = 256
    public static let idempotencyKeyBytesMax = 128
    /// Metadata of a job, and the reason for its failure.
    public static let jobMetadataBytesMax = 16_384
    public static let jobErrorBytesMax = 1_024
    /// Turns in one report of a worker, turns that it counts as dropped, and the duration of a stage of a turn.
    public static let turnsPerReportMax = 32
    public static let turnsDroppedMax = 1_000_000
    public static let turnStageMillisecondsMax = 3_600_000
    /// How many summaries of earlier sessions an assistant receives, and their total size as JSON.
    public static let pastSummariesMax = 5
    public static let pastSummariesBytesMax = 16_384
    /// How long a call rings before it counts as missed.
    public static let callRingMilliseconds = 45_000
    /// How often clients ping, and how long a silent connection is kept open.
    public static let pingIntervalMilliseconds = 5_000
    public static let pingTimeoutMilliseconds = 15_000
    /// The WebSocket subprotocol of version 1, and the prefix of the subprotocol item that carries a token.
    public static let subprotocol = "patchbay.v1"
    public static let bearerSubprotocolPrefix = "patchbay.bearer."
}
