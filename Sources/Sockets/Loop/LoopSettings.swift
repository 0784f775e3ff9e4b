internal import Synchronization
package import TLSRecords

/// How a loop is set up.
package struct LoopSettings: Sendable {
    /// The server's certificate; nil for a loop that only connects to others.
    package var server: TLSFiles?
    /// Which servers outgoing connections trust; nil for a loop that only serves.
    package var client: ClientTrust?
    /// Limits connections of clients and proxies in all states; beyond it a new one is closed as soon as it is accepted.
    package var quota = ConnectionQuota(limit: 60_000)
    /// The same for health checks and metrics, which work when there are too many clients.
    package var operationsQuota = ConnectionQuota(limit: 64)
    /// How long a peer may take for TLS, and again for its request, in seconds.
    package var handshakeSecondsMax = 10
    /// How long the delegate and other nodes may take for an upgrade that is held, from its request to its response, in seconds.
    package var holdSecondsMax = 10
    /// How long one attempt to forward it may take, in seconds.
    package var forwardSecondsMax = 5
    /// The peers that are trusted at listeners for proxies.
    package var proxies = ProxyTrust()
    /// The other nodes, which are trusted at listeners for nodes.
    package var nodes = ProxyTrust()
    /// Whether records after the handshake are ours.
    package var fastPath = TLSFastPath(.off)

    package init(server: TLSFiles? = nil, client: ClientTrust? = nil) {
        self.server = server
        self.client = client
    }

    /// The time for a client to send the body of an HTTP request, and to acknowledge a piece of a response.
    var transferTimeout: Duration { .seconds(3 * handshakeSecondsMax) }

    func quota(of entrance: Entrance) -> ConnectionQuota {
        entrance == .operations ? operationsQuota : quota
    }
}

/// Which servers a client trusts.
package enum ClientTrust: Sendable, Hashable {
    /// The system's authorities.
    case system
    /// The system's authorities and those in this PEM file.
    case authority(path: String)
    /// All: for experiments with self-signed certificates only.
    case anybody
}

/// A limit on concurrent connections, over all loops that share it.
package final class ConnectionQuota: Sendable {
    package let limit: Int
    private let taken = Atomic(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// Counts a connection.
    ///
    /// - Returns: false if the limit is reached.
    func take() -> Bool {
        guard taken.add(1, ordering: .relaxed).newValue > limit else { return true }
        giveBack()
        return false
    }

    func giveBack() {
        taken.subtract(1, ordering: .relaxed)
    }
}
