internal import Wire

/// A socket's attempts to connect since it was opened or lost its connection. A pure value.
struct ReconnectAttempts {
    /// How long an attempt to reconnect may take if another node can be tried next.
    private static let nodeTimeout = Duration.seconds(5)

    /// The number of the current reconnect attempt; 0 while connected.
    private(set) var number = 0
    /// No `hello` has arrived yet on any connection: a failure ends the socket instead of starting the back-off.
    private(set) var isInitial = true
    private var targets: ReconnectTargets

    init(at address: GatewayAddress) {
        targets = ReconnectTargets(address)
    }

    /// The address of the connection, or of the current attempt.
    var address: GatewayAddress { targets.address(ofAttempt: number) }

    func timeout(atMost timeoutMax: Duration) -> Duration {
        isInitial || targets.addresses.count == 1 ? timeoutMax : min(timeoutMax, Self.nodeTimeout)
    }

    /// `hello` has arrived.
    ///
    /// - Parameters:
    ///   - nodes: the other nodes that it names.
    ///   - path: the path of URLs without one.
    mutating func succeeded(nodes: [String], path: String) {
        targets.connected(at: address, nodes: nodes, path: path)
        number = 0
        isInitial = false
    }

    /// The gateway has asked to leave the connected node: it is tried last.
    mutating func leaveNode() { targets.leave() }

    /// Whether another attempt may succeed after this one has failed.
    ///
    /// If the attempt was at another node than the lost connection, and that node cannot be used, for example because its certificate is not
    /// trusted, the next address is tried; only the node's answer ends the socket.
    func mayContinue(after error: ConnectError) -> Bool {
        error.isRetryable || (!targets.isCurrent(address) && error.status == nil)
    }

    /// Begins the next attempt.
    ///
    /// - Returns: the time to wait before it; nil if there were enough.
    mutating func next(random: Double) -> Duration? {
        number += 1
        return Backoff.reconnectDelay(beforeAttempt: number, random: random)
    }
}
