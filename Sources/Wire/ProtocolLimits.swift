/// Every size and rate that PROTOCOL promises, in one place. Sizes in bytes unless the name says otherwise.
public enum ProtocolLimits {
    /// A frame's header (PROTOCOL section 3).
    public static let frameHeaderBytes = 12
    /// The longest Opus packet that is relayed.
    public static let opusPacketBytesMax = 1_488
    /// The longest frame: header and packet.
    public static let frameBytesMax = frameHeaderBytes + opusPacketBytesMax
    /// The longest binary message.
    public static let messageBytesMax = 16_384
    /// The longest text message.
    public static let controlBytesMax = 65_536
    /// Frames in one bundle.
    public static let bundleFramesMax = 50
    /// Published frames a second on a live track, and how many may come at once.
    public static let liveFramesPerSecond = 100
    public static let liveBurst = 100
    /// How far an `ahead` track may run before what was heard, in milliseconds.
    public static let aheadMilliseconds = 60_000
    /// How much audio of an `ahead` track may be with a listener before it is played, and how much one message carries.
    public static let leadMilliseconds = 300
    public static let bundleMilliseconds = 100
    /// When `playout.backlog` says `high` and `low`.
    public static let backlogHighMilliseconds = 45_000
    public static let backlogLowMilliseconds = 30_000
    /// How often a listener reports its progress while it plays.
    public static let progressIntervalMilliseconds = 200
    /// How long a participant's place is kept for it when its socket is lost, and how many events.
    public static let resumeWindowMilliseconds = 20_000
    public static let resumeEventsMax = 256
    /// LiveKit's limits.
    public static let metadataBytesMax = 512 * 1_024
    public static let attributesBytesMax = 64 * 1_024
    public static let dataBytesMax = 64_000
    public static let identityBytesMax = 256
    public static let roomNameBytesMax = 256
    public static let participantNameBytesMax = 256
    public static let rpcPayloadBytesMax = 15_360
    public static let rpcErrorBytesMax = 256
    /// Everybody in one call, the caller too.
    public static let callMembersMax = 32
    public static let callMetadataBytesMax = 1_024
    public static let callReasonBytesMax = 256
    public static let idempotencyKeyBytesMax = 128
    /// How many earlier sessions an assistant is told of, and in how many bytes of JSON.
    public static let pastSummariesMax = 5
    public static let pastSummariesBytesMax = 16_384
    /// How long a call rings before it is missed.
    public static let callRingMilliseconds = 45_000
    /// How often a client pings, and after how long without a sign of life it is given up.
    public static let pingIntervalMilliseconds = 5_000
    public static let pingTimeoutMilliseconds = 15_000
    /// The subprotocol of version 1, and what comes before a token in a subprotocol item.
    public static let subprotocol = "patchbay.v1"
    public static let bearerSubprotocolPrefix = "patchbay.bearer."
    public static let defaultPort = 7_880
}
