import Gateway
import Testing

/// The port for health checks and metrics.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct OperationsPortTests {
    private func gateway(publishes: Bool = false) throws -> TestGateway {
        try TestGateway {
            $0.edge.operations = EdgeSettings.Place(host: "127.0.0.1", port: 0)
            $0.edge.publishesOperations = publishes
        }
    }

    private func status(_ path: String, _ gateway: TestGateway) throws -> Int? {
        try HTTPAsk(path: path).plainAnswer(port: try #require(gateway.gateway.operationsPort))?.status
    }

    @Test func healthAndMetricsAreServedWithoutTLS() throws {
        let gateway = try gateway()
        #expect(try status("/healthz", gateway) == 200)
        #expect(try status("/readyz", gateway) == 200)
        let port = try #require(gateway.gateway.operationsPort)
        let answer = try #require(try HTTPAsk(path: "/metrics").plainAnswer(port: port))
        let metrics = try Metrics(parsing: answer.text)
        #expect(answer.status == 200 && metrics.families.contains { $0.name == "patchbay_build_info" })
    }

    @Test func nothingElseIsServedThere() throws {
        let gateway = try gateway()
        for path in ["/v1/rooms", "/openapi.json", "/v1/rtc", "/v1/rtc/validate", "/", "/web/patchbay.js"] {
            #expect(try status(path, gateway) == 404, "\(path)")
        }
        let port = try #require(gateway.gateway.operationsPort)
        let join = try HTTPAsk.upgrade(token: TestToken.joining("r", as: "ann")).plainAnswer(port: port)
        #expect(join?.status == 404 && join?.code == "not_found")
    }

    @Test func clientsPortKeepsOnlyTheHealthCheck() throws {
        let gateway = try gateway()
        #expect(try gateway.get("/healthz")?.status == 200)
        #expect(try gateway.get("/readyz")?.status == 404)
        #expect(try gateway.get("/metrics")?.status == 404)
        let document = try #require(try gateway.get("/openapi.json")).text
        #expect(document.contains("/healthz") && !document.contains("/metrics"))
    }

    @Test func clientsPortMayServeThemToo() throws {
        let gateway = try gateway(publishes: true)
        #expect(try gateway.get("/readyz")?.status == 200)
        #expect(try gateway.metrics().value("patchbay_draining") == 0)
    }

    @Test func fullGatewayCanStillBeObserved() throws {
        let gateway = try TestGateway {
            $0.edge.operations = EdgeSettings.Place(host: "127.0.0.1", port: 0)
            $0.connectionsMax = 1
            $0.shardCount = 1
        }
        let ann = try Caller(gateway, room: "r", identity: "ann")
        let port = try #require(gateway.gateway.operationsPort)
        let answer = try #require(try HTTPAsk(path: "/metrics").plainAnswer(port: port))
        #expect(try Metrics(parsing: answer.text).value("patchbay_participants") == 1)
        withExtendedLifetime(ann) {}
    }

    @Test func idleConnectionsThereAreLimitedAndTakeNoClientsPlaces() throws {
        let gateway = try TestGateway {
            $0.edge.operations = EdgeSettings.Place(host: "127.0.0.1", port: 0)
            $0.edge.publishesOperations = true
            $0.connectionsMax = 3
            $0.shardCount = 1
        }
        let port = try #require(gateway.gateway.operationsPort)
        var idle = try (0..<100).map { _ in try RawSocket(port: port) }
        try Patience.until("those over the limit are closed") {
            idle.count { (try? $0.read(within: .zero))?.isEmpty ?? false } >= 100 - EdgeSettings.operationsConnectionsMax
        }
        let ann = try Caller(gateway, room: "r", identity: "ann")
        #expect(try gateway.value(Counter(name: "patchbay_connections_turned_away_total")) >= 36)
        try ann.settle()
        idle = []
        try Patience.until("there is room again") { (try? status("/healthz", gateway)) == 200 }
    }
}

extension HTTPAsk {
    /// Sends it on a new connection without TLS.
    ///
    /// - Parameter header: bytes before it, such as a header of the PROXY protocol.
    func plainAnswer(port: Int, from source: String = Loopback.fresh(), after header: [UInt8] = []) throws -> HTTPAnswer? {
        let socket = try RawSocket(port: port, from: source)
        try socket.write(header + bytes)
        var inbox: [UInt8] = []
        return try HTTPAnswer.read(from: socket, inbox: &inbox)
    }
}
