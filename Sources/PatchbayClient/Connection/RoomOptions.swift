/// Options of a room connection, or of a `Channel` and the rooms of its calls.
public struct RoomOptions: Sendable, Hashable {
    /// What to do when the connection is lost.
    public enum Reconnect: Sendable, Hashable {
        /// End the room.
        case never
        /// Resume the session, or join again if that is too late: at once, then after 0.3, 1.2, 2.7, 4.8 and then every 7 s, with up to 1 s
        /// of jitter; ten times. Close codes 1000 and 4100–4199 and refused tokens end the room at once. If `hello` has named other nodes of a
        /// cluster (`Hello.nodes`), the attempts are made at the lost node and at these in turn.
        case backOff
    }

    public var trust: TLSTrust
    /// Whether to subscribe to every track, including tracks published later. If false, only `subscribe` subscribes.
    public var autoSubscribe: Bool
    public var reconnect: Reconnect
    /// How long a request waits for its reply before it fails with `RequestFailure.timedOut`.
    public var requestTimeout: Duration
    /// How long connecting may take, TLS and `hello` included.
    public var connectTimeout: Duration

    public init(
        trust: TLSTrust = .system, autoSubscribe: Bool = true, reconnect: Reconnect = .backOff, requestTimeout: Duration = .seconds(10),
        connectTimeout: Duration = .seconds(15)
    ) {
        self.trust = trust
        self.autoSubscribe = autoSubscribe
        self.reconnect = reconnect
        self.requestTimeout = requestTimeout
        self.connectTimeout = connectTimeout
    }
}

/// Which certificates a client accepts from a gateway.
public enum TLSTrust: Sendable, Hashable {
    /// Certificates of the system's certificate authorities.
    case system
    /// Certificates of the system's authorities and of those in this PEM file. On Linux an authority with name constraints on IP addresses
    /// is not accepted: BoringSSL cannot check them.
    case authority(path: String)
    /// Any certificate for any name. For experiments with self-signed certificates only.
    case anybody
}

/// Limits of streams and of concurrent work. A full stream drops its oldest element and counts it in `RoomStatistics` or `ChannelStatistics`.
public enum StreamLimits {
    /// Events of one room, or of one user's calls.
    public static let eventsMax = 1_024
    /// Frames of one track in one stream: 10 s at 20 ms a frame.
    public static let framesMax = 512
    /// Frames kept for the first reader of a track: 2 s at 20 ms a frame, and 5 s of earlier speech before an agent's arrival. Without a reader by then, all are dropped and no more are kept.
    public static let unclaimedFramesMax = 350
    /// Pending requests of one room or channel.
    public static let requestsMax = 1_024
    /// Procedure handlers of one room that run at once.
    public static let procedureCallsMax = 100
}
