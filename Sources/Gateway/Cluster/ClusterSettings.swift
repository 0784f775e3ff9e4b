package import Backend
package import Cluster
package import Identity
package import Sockets
package import Wire

/// A gateway's place in a cluster.
package struct ClusterSettings: Sendable {
    /// The port for other nodes, with TLS: for connections and requests that they forward.
    package var place: EdgeSettings.Place
    /// The other nodes' networks: only they may use the port.
    package var networks: [IPNetwork]
    /// The address at which other nodes reach the port.
    package var address: NodeAddress
    /// The URL at which clients reach this node directly; nil if they need a load balancer.
    package var url: String?
    package var nats: NATSSettings
    /// Seals the snapshots of rooms. All nodes have the same key.
    package var key: SealingKey
    /// The authorities of other nodes' certificates.
    package var trust: ClientTrust
    /// The name that the certificates of nodes have, if not the host of their addresses.
    package var serverName: String?
    /// This node, for services that are created before the gateway.
    package let node: ClusterNodeAccess
    /// Prepares this node's services for a room, before the room admits anybody. The description is that of a restored room.
    ///
    /// Returns false if the store cannot be reached, so that a new room is not opened. A restored one waits, if it needs the store.
    package var prepare: @Sendable (_ room: String, RoomInfo?) async -> Bool = { _, _ in true }
    /// Waits until the services have stored what the next home of a room reads.
    package var handOver: @Sendable (_ room: String) async -> Void = { _ in }
    /// Called when another node continues a room.
    package var forget: @Sendable (_ room: String) -> Void = { _ in }
    /// Applies a notice from another node.
    package var apply: @Sendable (NodeNotice) async -> Void = { _ in }

    package init(
        node name: String, place: EdgeSettings.Place, networks: [IPNetwork], address: NodeAddress, url: String? = nil,
        nats: NATSSettings, key: SealingKey, trust: ClientTrust = .system
    ) {
        node = ClusterNodeAccess(name)
        (self.place, self.networks, self.address, self.url) = (place, networks, address, url)
        (self.nats, self.key, self.trust) = (nats, key, trust)
    }
}

/// Where other nodes reach a node: `10.0.0.1:7899` or `[2001:db8::1]:7899`.
///
/// The host is numeric, because resolving a name would block a shard.
package struct NodeAddress: Sendable, Hashable, CustomStringConvertible {
    package let host: String
    package let port: Int

    /// - Returns: nil for a text that is no address.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]), 1...65_535 ~= port else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard IPAddress(host) != nil else { return nil }
        (self.host, self.port) = (String(host), port)
    }

    package init(host: String, port: Int) {
        (self.host, self.port) = (host, port)
    }

    package var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
