package import Engine
package import Sockets
package import TLSRecords
package import Wire

/// The gateway's configuration.
package struct GatewaySettings: Sendable {
    /// The numeric address to listen on.
    package var host: String
    /// 0 chooses a free port.
    package var port: Int
    package var shardCount: Int
    package var edge: EdgeSettings
    package var tls: TLSFiles
    package var room: RoomSettings
    /// Whether joining creates a room that does not exist; otherwise the token needs the grant `roomCreate`.
    package var createsRooms: Bool
    /// How long a drain may take before all connections are closed.
    package var drainTimeout: Duration
    package var connectionsMax: Int
    /// Messages of other threads that may wait for a shard.
    package var mailboxMessagesMax = MailboxLimits.messagesMax
    /// How long a peer may take for the TLS handshake, and again for its request, in seconds.
    package var handshakeSecondsMax: Int
    package var fastPath: TLSFastPath
    package var nodeName: String
    /// Nil for a gateway that runs alone.
    package var cluster: ClusterSettings?
    package var version: String
    /// The version under which browsers may cache the bundles of the web pages for ever; nil in a development build.
    package var release: String?

    /// How the gateway identifies itself to clients.
    package var serverInfo: ServerInfo { ServerInfo(version: version, node: nodeName) }

    package init(
        host: String = "127.0.0.1", port: Int = 7880, shardCount: Int = 1, edge: EdgeSettings = EdgeSettings(), tls: TLSFiles,
        room: RoomSettings = RoomSettings(),
        createsRooms: Bool = true, drainTimeout: Duration = .seconds(600), connectionsMax: Int = 60_000,
        handshakeSecondsMax: Int = 10, fastPath: TLSFastPath = TLSFastPath(.off), nodeName: String = "node",
        version: String = "0", release: String? = nil
    ) {
        self.host = host
        self.port = port
        self.shardCount = shardCount
        self.edge = edge
        self.tls = tls
        self.room = room
        self.createsRooms = createsRooms
        self.drainTimeout = drainTimeout
        self.connectionsMax = connectionsMax
        self.handshakeSecondsMax = handshakeSecondsMax
        self.fastPath = fastPath
        self.nodeName = nodeName
        self.version = version
        self.release = release
    }
}

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
