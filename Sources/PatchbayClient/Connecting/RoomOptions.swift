/// How a room is joined and stayed in; and a `CallChannel`, for its own connection and for the rooms of its calls.
public struct RoomOptions: Sendable, Hashable {
    /// What to do when the connection is lost.
    public enum Reconnect: Sendable, Hashable {
        /// The room is over.
        case never
        /// Try to get our place back, or else a new one: at once, then after 0.3, 1.2, 2.7, 4.8 and then every 7 s, with up to 1 s more
        /// drawn by lot; ten times. Never after the gateway said not to come back (close codes 1000 and 4100–4199) or refused the token.
        case backOff
    }

    public var trust: TLSTrust
    /// Whether every track of the others is heard, also those published later; otherwise only what `subscribe` asks for.
    public var autoSubscribe: Bool
    public var reconnect: Reconnect
    /// How long a request waits for its answer before it fails with `RequestFailure.timedOut`.
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
