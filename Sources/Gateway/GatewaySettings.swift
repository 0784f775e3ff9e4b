package import Engine
package import Sockets
package import Wire

/// The gateway's configuration, with defaults where there are sensible ones.
package struct GatewaySettings: Sendable {
    /// The numeric address to listen on.
    package var host: String
    /// 0 chooses a free port.
    package var port: Int
    /// Shards, each with a thread of its own.
    package var shardCount: Int
    package var edge: EdgeSettings
    package var tls: TLSFiles
    package var room: RoomSettings
    /// Whether joining creates a room that does not exist; otherwise the token needs the grant `roomCreate`.
    package var createsRooms: Bool
    /// How long a drain may take before all connections are closed.
    package var drainTimeout: Duration
    package var connectionsMax: Int
    /// How long a peer may take for the TLS handshake, and again for its request, in seconds.
    package var handshakeSecondsMax: Int
    /// The record layer that replaces OpenSSL's; nil in programs without the module `TLSFastPath`.
    package var recordLayer: (any RecordLayer)?
    package var nodeName: String
    package var version: String

    /// How the gateway identifies itself to clients.
    package var serverInfo: ServerInfo { ServerInfo(version: version, node: nodeName) }

    package init(
        host: String = "127.0.0.1", port: Int = 7880, shardCount: Int = 1, edge: EdgeSettings = EdgeSettings(), tls: TLSFiles,
        room: RoomSettings = RoomSettings(),
        createsRooms: Bool = true, drainTimeout: Duration = .seconds(600), connectionsMax: Int = 60_000,
        handshakeSecondsMax: Int = 10, recordLayer: (any RecordLayer)? = nil, nodeName: String = "node",
        version: String = "0"
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
        self.recordLayer = recordLayer
        self.nodeName = nodeName
        self.version = version
    }
}
