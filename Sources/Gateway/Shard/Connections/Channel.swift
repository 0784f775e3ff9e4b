internal import Backend
internal import Engine
internal import Identity
internal import Sockets
internal import Wire

/// The channel of a user or an assistant whose socket this shard serves. It is in no room and carries text only.
final class Channel: ControlConnection {
    let address: ChannelAddress
    let owner: ChannelOwner
    /// When its token expires, in seconds since 1970.
    var expires: Int64
    var requests: TokenBucket
    /// Whether a service has sent `hello`; it is sent before anything else.
    var isGreeted = false
    private var pings: UInt32 = 0

    init(_ context: ShardContext, socket: Connection, address: ChannelAddress, owner: ChannelOwner) {
        self.address = address
        self.owner = owner
        expires = address.expires
        requests =
            switch owner {
            case .user: TokenBucket(perSecond: Limits.deviceRequestsPerSecond, burst: Limits.deviceRequestBurst)
            case .assistant: TokenBucket(perSecond: Limits.assistantRequestsPerSecond, burst: Limits.assistantRequestBurst)
            }
        super.init(context, socket: socket, outbox: Outbox())
    }

    func refuse(_ error: RequestError, id: UInt64?) {
        if countRefused(error, id: id) { write(CallError(error).bytes(re: id)) }
    }

    func flush() {
        while !socket.isCongested, case .control(let message)? = outbox.next(allowsFrame: false) { socket.write(text: message) }
        if outbox.hasControl { socket.askForWritable() } else { completePendingClose() }
    }

    override func close(_ reason: CloseReason) {
        if reason == .slowConsumer { outbox.removeAll { _ in } }
        finish(reason)
    }

    /// Closes the channel if it is silent or its token has expired, and pings a client that only listens.
    func check(_ pauses: PauseDetector, wallClock: Int64) {
        completePendingClose()
        guard let silence = checkLiveness(pauses) else { return }
        if wallClock - AccessToken.leewaySeconds > expires {
            close(.tokenRevoked)
        } else if silence >= .milliseconds(ProtocolLimits.pingIntervalMilliseconds) {
            pings &+= 1
            socket.ping(pings)
        }
    }
}
