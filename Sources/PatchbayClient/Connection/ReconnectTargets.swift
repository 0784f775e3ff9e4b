internal import Wire

/// Where a socket connects again after a loss: at the node where it was connected, at the other nodes of the cluster that the latest `hello`
/// named, and at the URL with which it was opened.
///
/// A pure value. Each attempt takes the next address in turn; a `hello` makes the address that worked the first one.
struct ReconnectTargets: Hashable {
    private let first: GatewayAddress
    private var current: GatewayAddress
    private var others: [GatewayAddress] = []
    private var isAskedToLeave = false

    init(_ first: GatewayAddress) {
        (self.first, current) = (first, first)
    }

    /// All addresses, in the order of attempts.
    var addresses: [GatewayAddress] {
        let rest = (others + [first]).filter { $0 != current }
        return (isAskedToLeave ? rest + [current] : [current] + rest).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The address of an attempt.
    ///
    /// - Parameter number: 1 for the first attempt since the loss; 0 is the connection before it.
    func address(ofAttempt number: Int) -> GatewayAddress {
        guard number > 0 else { return current }
        let addresses = addresses
        return addresses[(number - 1) % addresses.count]
    }

    func isCurrent(_ address: GatewayAddress) -> Bool { address == current }

    /// The gateway has asked for it, because the room or the node is about to leave: that node is tried last.
    mutating func leave() { isAskedToLeave = true }

    /// A `hello` has arrived.
    ///
    /// - Parameters:
    ///   - address: where it came from.
    ///   - nodes: the URLs of other nodes that it names. Those that are not `wss://host[:port]` are ignored: the token is never sent unencrypted.
    ///   - path: the path of URLs without one.
    mutating func connected(at address: GatewayAddress, nodes: [String], path: String) {
        current = address
        isAskedToLeave = false
        others = nodes.filter { $0.hasPrefix("wss://") }.compactMap { try? GatewayAddress($0, path: path) }
        others = Array(others.prefix(ProtocolLimits.helloNodesMax))
    }
}
