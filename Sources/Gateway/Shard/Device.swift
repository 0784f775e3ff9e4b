internal import Backend
internal import Engine
internal import Sockets
internal import Wire

/// A user's own channel, or an assistant's, whose socket this shard serves. It is in no room, and hears of calls only.
final class Device {
    let address: DeviceAddress
    let connection: Connection
    let bearer: CallInbox.Owner
    /// Until when its token can be believed, in seconds since 1970.
    var expires: Int64
    /// Control messages only.
    var outbox = Outbox()
    var lastHeard: Instant
    /// It is to be closed for this reason once its messages are out, or by this time.
    var pendingClose: (reason: CloseReason, deadline: Instant)?
    /// Requests that it may make.
    var requests = TokenBucket(perSecond: Limits.deviceRequestsPerSecond, burst: Limits.deviceRequestBurst)
    var malformed: MalformedMessageCounter
    private var pings: UInt32 = 0

    init(address: DeviceAddress, connection: Connection, bearer: CallInbox.Owner, at now: Instant) {
        self.address = address
        self.connection = connection
        self.bearer = bearer
        expires = address.expires
        lastHeard = now
        malformed = MalformedMessageCounter(now: now)
    }

    /// Asks for a sign of life below the messages: a page that only listens need not ping.
    func ping() {
        pings &+= 1
        connection.ping(pings)
    }
}

/// What was found out before the upgrade, for the moment after it.
final class DeviceTicket: Sendable {
    let bearer: CallInbox.Owner
    let expires: Int64
    let host: String?

    init(bearer: CallInbox.Owner, expires: Int64, host: String?) {
        self.bearer = bearer
        self.expires = expires
        self.host = host
    }
}
