import Cluster
import Engine
import Foundation
import Gateway
import HTTPServer
import Identity
import Sockets
import TestProcesses

/// Gateways of one cluster, with a NATS server of their own.
final class TestCluster {
    let nats: NATSServer
    let key = SealingKey()
    private var count = 0

    init() throws { nats = try NATSServer() }

    /// Starts another gateway, and waits until it is connected.
    func start(_ change: (inout GatewaySettings) -> Void = { _ in }) throws -> TestGateway {
        let settings = try nextSettings()
        let gateway = try TestGateway {
            $0.nodeName = "n\(count)"
            $0.room.resumeWindow = .seconds(20)
            $0.cluster = settings
            change(&$0)
        }
        try connected(gateway)
        return gateway
    }

    /// Starts two gateways, and waits until they know each other.
    func startPair() throws -> (TestGateway, TestGateway) {
        let (first, second) = (try start(), try start())
        try meet(first, second)
        return (first, second)
    }

    func connected(_ gateway: TestGateway) throws {
        try Patience.until("the gateway is connected to the cluster") {
            try gateway.value(Counter(name: "patchbay_cluster_connected")) == 1
        }
    }

    /// The settings of another node, `n1` and so on.
    func nextSettings() throws -> ClusterSettings {
        count += 1
        let port = try NATSServer.freePort()
        return ClusterSettings(
            node: "n\(count)", place: EdgeSettings.Place(host: "127.0.0.1", port: port), networks: EdgeSettings.loopback,
            address: NodeAddress(host: "127.0.0.1", port: port), nats: NATSSettings(servers: [nats.address], bucket: "b", subjects: []),
            key: key, trust: .authority(path: Certificate.usual.certificateURL.path))
    }

    /// Waits until these gateways know each other.
    func meet(_ gateways: TestGateway...) throws {
        for gateway in gateways {
            try Patience.until("all nodes are known") {
                try gateway.value(Counter(name: "patchbay_cluster_nodes")) == Double(gateways.count)
            }
        }
    }
}

extension TestGateway {
    /// Rooms whose home is this gateway.
    var homeRooms: Double { get throws { try value(Counter(name: "patchbay_cluster_rooms")) } }
}
