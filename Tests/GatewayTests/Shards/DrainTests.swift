import Gateway
import Testing
import Wire

@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct DrainTests {
    @Test func drainRefusesNewConnectionsAndNotifiesParticipants() throws {
        let gateway = try TestGateway { $0.drainTimeout = .seconds(60) }
        let ann = try Caller(gateway, room: "r", identity: "ann")
        let bob = try Caller(gateway, room: "r", identity: "bob")
        #expect(try gateway.get("/readyz")?.status == 200)
        #expect(gateway.gateway.state.phase == .serving)

        gateway.gateway.drain()
        for caller in [ann, bob] {
            let deadline = try caller.event("draining") { if case .serverDraining(let deadline) = $0 { deadline } else { nil } }
            #expect(abs(deadline - TestToken.now - 60) <= 5)
        }
        let late = try #require(try HTTPAsk.upgrade(token: TestToken.joining("r", as: "late")).answer(port: gateway.port))
        #expect(late.status == 503)
        #expect(late.code == "draining")
        #expect(try gateway.get("/readyz")?.status == 503)
        #expect(try gateway.get("/healthz")?.status == 200)
        #expect(try gateway.value(Counter(name: "patchbay_draining")) == 1)
        #expect(try gateway.value(.joinRefused("draining")) == 1)
        #expect(gateway.gateway.state.phase == .draining)

        // The call continues.
        let track = try ann.publish()
        try ann.say(TestFrame.bytes(track.alias, 0))
        #expect(try bob.frame() == TestFrame.bytes(track.alias, 0))
    }

    @Test func gatewayStopsWhenAllHaveLeft() async throws {
        let gateway = try TestGateway { $0.drainTimeout = .seconds(60) }
        let ann = try Caller(gateway, room: "r", identity: "ann")
        let bob = try Caller(gateway, room: "r", identity: "bob")
        gateway.gateway.drain()
        for caller in [ann, bob] {
            try caller.socket.send(text: #"{"type":"leave"}"#)
            #expect(try caller.closeCode() == 1000)
        }
        try await gateway.ended()
        #expect(gateway.gateway.state.phase == .stopped)
        #expect(throws: SocketFault.self) { try RawSocket(port: gateway.port) }
    }

    @Test func emptyGatewayStopsAtOnce() async throws {
        let gateway = try TestGateway { $0.drainTimeout = .seconds(60) }
        _ = try gateway.metrics()
        gateway.gateway.drain()
        try await gateway.ended()
    }

    @Test func drainBeforeTheGatewayRuns() async throws {
        for _ in 0..<20 {
            let gateway = try TestGateway { $0.drainTimeout = .seconds(60) }
            gateway.gateway.drain()
            #expect(gateway.gateway.state.phase != .serving)
            try await gateway.ended()
        }
    }

    @Test func connectionsAreClosedAtTheDeadline() async throws {
        let gateway = try TestGateway { $0.drainTimeout = .seconds(1) }
        let callers = try (0..<5).map { try Caller(gateway, room: "r \($0 % 2)", identity: "caller \($0)") }
        gateway.gateway.drain()
        for caller in callers {
            try caller.await(.bye(.serverShutdown, retryable: true))
            #expect(try caller.closeCode() == 4001)
        }
        try await gateway.ended()
    }

    @Test func secondDrainClosesConnectionsAtOnce() async throws {
        let gateway = try TestGateway { $0.drainTimeout = .seconds(600) }
        let ann = try Caller(gateway, room: "r", identity: "ann")
        gateway.gateway.drain()
        gateway.gateway.drain()
        try ann.await(.bye(.serverShutdown, retryable: true))
        #expect(try ann.closeCode() == 4001)
        try await gateway.ended()
    }

    @Test func clientThatDoesNotReadDoesNotDelayTheEnd() async throws {
        let gateway = try TestGateway { $0.drainTimeout = .milliseconds(100) }
        let deaf = try Caller(gateway, room: "r", identity: "deaf")
        let half = try RawSocket(port: gateway.port)
        gateway.gateway.drain()
        try await gateway.ended()
        withExtendedLifetime((deaf, half)) {}
    }

    @Test func shardsStopTogether() async throws {
        let gateway = try TestGateway {
            $0.shardCount = 3
            $0.drainTimeout = .milliseconds(200)
        }
        // The kernel distributes connections by address; each room is homed on the shard of its first participant.
        let callers = try (0..<9).map { try Caller(gateway, room: "r \($0)", identity: "caller") }
        gateway.gateway.drain()
        for caller in callers { #expect(try caller.closeCode() == 4001) }
        try await gateway.ended()
    }
}
