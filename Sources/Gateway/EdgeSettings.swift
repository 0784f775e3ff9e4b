package import Sockets

/// The ports besides the main port, the trusted proxies, and the web pages that may connect.
package struct EdgeSettings: Sendable {
    /// A numeric address and a port; 0 chooses a free port.
    package struct Place: Sendable, Hashable {
        package var host: String
        package var port: Int

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// The ports that lead to one shard each. Unused with one shard.
    package enum ShardPorts: Sendable, Hashable {
        case off
        /// Other ones after each start, so they are not given to clients that may return later.
        case free
        /// The first of them; one for each shard.
        case from(Int)
    }

    package var shardPorts = ShardPorts.free
    /// Plain HTTP and WebSockets for proxies that terminate TLS; nil for none.
    package var plain: Place?
    package var proxies = ProxyTrust(networks: EdgeSettings.loopback)
    /// Plain HTTP for health checks and metrics; nil for none.
    package var operations: Place?
    /// Connections at `operations`; they do not count as clients'.
    package static let operationsConnectionsMax = 64
    /// Whether `/metrics` and `/readyz` are served on the clients' ports.
    package var publishesOperations = true
    /// Origins whose web pages may connect and call the HTTP API: `https://app.example`, or `*` for all.
    package var allowedOrigins: [String] = []
    /// Web pages of all origins may connect. They still may not call the HTTP API.
    package var admitsAnyOrigin = false
    /// Whether clients' ports serve the gateway's own web pages, which may connect whatever `allowedOrigins` says.
    package var servesPages = true

    package init() {}

    /// The loopback networks: peers there are processes on the same host.
    package static let loopback = ["127.0.0.0/8", "::1"].compactMap { try? IPNetwork($0) }
}
