internal import Sockets

/// The gateway's bound ports and their listeners, by shard.
///
/// Shards share the ports for clients and proxies among themselves (SO_REUSEPORT). Health checks and metrics are served by the first shard.
struct GatewayListeners: Sendable {
    private(set) var ofShards: [[Listener]]
    let port: Int
    /// Each shard's own port; empty if there are none.
    private(set) var shardPorts: [Int] = []
    private(set) var plainPort: Int?
    private(set) var operationsPort: Int?
    /// The port for other nodes of the cluster.
    private(set) var nodesPort: Int?

    /// - Throws: `ListenError` if a port cannot be bound.
    init(_ settings: GatewaySettings) throws(ListenError) {
        let (count, edge) = (settings.shardCount, settings.edge)
        let clients = try Self.bind(EdgeSettings.Place(host: settings.host, port: settings.port), count, .clients, "--port")
        port = clients[0].port
        ofShards = clients.map { [$0] }
        if count > 1, edge.shardPorts != .off {
            for index in 0..<count {
                let port = if case .from(let first) = edge.shardPorts { first + index } else { 0 }
                let own = try Self.bind(EdgeSettings.Place(host: settings.host, port: port), 1, .clients, "`shard_ports`")
                ofShards[index] += own
                shardPorts.append(own[0].port)
            }
        }
        if let plain = edge.plain {
            let listeners = try Self.bind(plain, count, .proxies, "`plain_port`")
            plainPort = listeners[0].port
            for index in listeners.indices { ofShards[index].append(listeners[index]) }
        }
        if let place = settings.cluster?.place {
            let listeners = try Self.bind(place, count, .nodes, "`cluster.port`")
            nodesPort = listeners[0].port
            for index in listeners.indices { ofShards[index].append(listeners[index]) }
        }
        if let operations = edge.operations {
            let listeners = try Self.bind(operations, 1, .operations, "`metrics_port`")
            operationsPort = listeners[0].port
            ofShards[0] += listeners
        }
    }

    /// Listeners that share one port.
    private static func bind(
        _ place: EdgeSettings.Place, _ count: Int, _ entrance: Entrance, _ setting: String
    ) throws(ListenError) -> [Listener] {
        var listeners: [Listener] = []
        do {
            guard count > 1 else { return [try Listener(host: place.host, port: place.port, shared: false, entrance: entrance)] }
            var port = place.port
            // Not shared with another gateway: bind exclusively first. The system chooses only ports that nobody has.
            if port != 0 { try Listener(host: place.host, port: port, shared: false, entrance: entrance).close() }
            for _ in 0..<count {
                listeners.append(try Listener(host: place.host, port: port, shared: true, entrance: entrance))
                port = listeners[0].port
            }
            return listeners
        } catch {
            for listener in listeners { listener.close() }
            var error = error
            error.setting = setting
            throw error
        }
    }
}
