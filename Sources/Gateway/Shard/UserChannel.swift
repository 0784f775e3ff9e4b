internal import Backend
internal import Engine
internal import Sockets
internal import Wire

/// The call channel of a user or an assistant whose socket this shard serves. It is in no room and carries text only.
final class UserChannel {
    let address: DeviceAddress
    let connection: Connection
    let bearer: ChannelOwner
    /// When its token expires, in seconds since 1970.
    var expires: Int64
    /// Control messages only.
    var outbox = Outbox()
    var lastReceivedAt: Instant
    /// Set while the last messages are flushed before the socket is closed.
    var pendingClose: PendingClose?
    var requests: TokenBucket
    var malformed: MalformedMessageCounter
    /// Whether a service has sent `hello`; it is sent before anything else.
    var isGreeted = false
    private var pings: UInt32 = 0

    init(address: DeviceAddress, connection: Connection, bearer: ChannelOwner, at now: Instant) {
        self.address = address
        self.connection = connection
        self.bearer = bearer
        expires = address.expires
        requests =
            switch bearer {
            case .user: TokenBucket(perSecond: Limits.deviceRequestsPerSecond, burst: Limits.deviceRequestBurst)
            case .assistant: TokenBucket(perSecond: Limits.assistantRequestsPerSecond, burst: Limits.assistantRequestBurst)
            }
        lastReceivedAt = now
        malformed = MalformedMessageCounter(now: now)
    }

    /// Pings at the WebSocket level, so that a client that only listens need not ping itself.
    func ping() {
        pings &+= 1
        connection.ping(pings)
    }
}

/// The verified data of a channel's upgrade request that is needed after the upgrade.
final class ChannelTicket: Sendable {
    let bearer: ChannelOwner
    let expires: Int64
    let host: String?

    init(bearer: ChannelOwner, expires: Int64, host: String?) {
        self.bearer = bearer
        self.expires = expires
        self.host = host
    }
}
