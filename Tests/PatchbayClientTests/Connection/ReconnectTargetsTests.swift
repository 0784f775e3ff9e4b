import Testing

@testable import PatchbayClient

struct ReconnectTargetsTests {
    private static let balancer = "wss://voice.example:7880"

    private static func targets(_ nodes: [String], at url: String = balancer) throws -> ReconnectTargets {
        var targets = ReconnectTargets(try GatewayAddress(balancer))
        targets.connected(at: try GatewayAddress(url), nodes: nodes, path: GatewayAddress.roomPath)
        return targets
    }

    private static func hosts(_ targets: ReconnectTargets, attempts: Int) -> [String] {
        (1...attempts).map { targets.address(ofAttempt: $0).host }
    }

    @Test func aloneAllAttemptsAreAtTheSameAddress() throws {
        let targets = try Self.targets([])
        #expect(Self.hosts(targets, attempts: 3) == Array(repeating: "voice.example", count: 3))
    }

    @Test func lostNodeIsTriedFirstAndThenTheOthersInTurn() throws {
        let targets = try Self.targets(["wss://n2.example", "wss://n3.example:443"])
        #expect(Self.hosts(targets, attempts: 5) == ["voice.example", "n2.example", "n3.example", "voice.example", "n2.example"])
        #expect(targets.address(ofAttempt: 3).port == 443)
        #expect(targets.address(ofAttempt: 3).path == GatewayAddress.roomPath)
    }

    @Test func nodeThatWorkedIsTheFirstOfTheNextAttempts() throws {
        var targets = try Self.targets(["wss://n2.example", "wss://n3.example"])
        targets.connected(at: targets.address(ofAttempt: 2), nodes: ["wss://n4.example"], path: GatewayAddress.roomPath)
        #expect(Self.hosts(targets, attempts: 4) == ["n2.example", "n4.example", "voice.example", "n2.example"])
    }

    @Test func nodeThatAsksTheClientToLeaveIsTriedLast() throws {
        var targets = try Self.targets(["wss://n2.example"])
        targets.leave()
        #expect(Self.hosts(targets, attempts: 3) == ["n2.example", "voice.example", "n2.example"])
        targets.connected(at: targets.address(ofAttempt: 1), nodes: [], path: GatewayAddress.roomPath)
        #expect(Self.hosts(targets, attempts: 2) == ["n2.example", "voice.example"])
    }

    @Test func listOfAnEarlierNodeIsForgotten() throws {
        var targets = try Self.targets(["wss://n2.example"])
        targets.connected(at: targets.address(ofAttempt: 1), nodes: [], path: GatewayAddress.roomPath)
        #expect(targets.addresses.map(\.host) == ["voice.example"])
    }

    @Test func eachAddressIsTriedOncePerRound() throws {
        let targets = try Self.targets([Self.balancer, "wss://n2.example", "wss://n2.example:443/"])
        #expect(targets.addresses.map(\.host) == ["voice.example", "n2.example"])
    }

    @Test func tokenIsNotSentUnencrypted() throws {
        let targets = try Self.targets([
            "ws://n2.example", "http://n2.example", "https://n2.example", "n2.example", "", "wss://", "wss://u@n2.example",
            "wss://n2.example?x=1", "wss://n3.example",
        ])
        #expect(targets.addresses.map(\.host) == ["voice.example", "n3.example"])
    }

    @Test func atMostEightNodesAreKept() throws {
        let targets = try Self.targets((1...20).map { "wss://n\($0).example" })
        #expect(targets.addresses.map(\.host) == ["voice.example"] + (1...8).map { "n\($0).example" })
    }

    @Test func nodesOfAChannelHaveItsPath() throws {
        var targets = ReconnectTargets(try GatewayAddress(Self.balancer, path: GatewayAddress.channelPath))
        targets.connected(at: targets.address(ofAttempt: 1), nodes: ["wss://n2.example"], path: GatewayAddress.channelPath)
        #expect(targets.address(ofAttempt: 2).path == GatewayAddress.channelPath)
    }
}
