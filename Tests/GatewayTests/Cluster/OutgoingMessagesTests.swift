import Backend
import Engine
import Synchronization
import Testing
import Wire

@testable import Gateway

/// Messages of a node find the coordinator and the homes of rooms, in order.
@Suite(.onOwnThread, .timeLimit(.minutes(1)))
struct OutgoingMessagesTests {
    private typealias World = MessagesWorld

    private static func hold(_ name: String, _ isHeld: Bool, in room: String) -> NodeMessage {
        .command(.hold(Identity(text: name), isHeld), room: room)
    }

    private static func report(_ number: Int) -> NodeMessage { .dispatch(.roomEnded("r\(number)")) }

    // MARK: Commands

    @Test func commandToARoomWhoseHomeIsUnknownArrivesOnceTheBrokerAnswers() throws {
        let world = World()
        world.change { $0.homes = nil }
        try world.run { outgoing in
            let commands = [Self.hold("ann", true, in: "r"), Self.hold("ann", false, in: "r"), .command(.close(.roomClosed), room: "r")]
            for command in commands.prefix(2) { #expect(outgoing.relay(command) == .taken) }
            try Patience.until("the broker is asked again") { world.state.withLock { $0.searches.count > 2 } }
            #expect(outgoing.relay(commands[2]) == .taken)
            #expect(world.received(by: "b/1") == [])
            world.change { $0.homes = ["r": "b/1"] }
            try world.expect(commands, at: "b/1")
            #expect(world.state.withLock { $0.lost } == 0)
        }
    }

    @Test func roomWhoseHomeIsUnknownHoldsUpNoOthers() throws {
        let world = World()
        world.change { ($0.homes, $0.coordinator) = (nil, "c/1") }
        try world.run { outgoing in
            outgoing.noteHome(of: "known", "b/1")
            _ = outgoing.relay(Self.hold("ann", true, in: "unknown"))
            _ = outgoing.relay(Self.hold("bob", true, in: "known"))
            _ = outgoing.relay(Self.report(1))
            try world.expect([Self.hold("bob", true, in: "known")], at: "b/1")
            try world.expect([Self.report(1)], at: "c/1")
            #expect(!world.state.withLock { $0.searches.contains("known") }, "its home has reported something")
        }
    }

    @Test func waitingCommandsGoToAHomeThatReportsSomething() throws {
        let world = World()
        world.change { $0.homes = nil }
        try world.run { outgoing in
            _ = outgoing.relay(Self.hold("ann", true, in: "r"))
            outgoing.noteHome(of: "r", "c/1")
            try world.expect([Self.hold("ann", true, in: "r")], at: "c/1")
        }
    }

    @Test func strayCommandIsSentOnByTheBrokersRecord() throws {
        let world = World()
        world.change { $0.homes = ["r": "c/1"] }
        try world.run { outgoing in
            outgoing.noteHome(of: "r", "b/1")
            outgoing.sendOn(Self.hold("ann", true, in: "r"))
            try world.expect([Self.hold("ann", true, in: "r")], at: "c/1")
            #expect(world.received(by: "b/1") == [])
        }
    }

    @Test func commandsToARoomThatIsOpenNowhereAreDropped() throws {
        let world = World()
        try world.run { outgoing in
            _ = outgoing.relay(Self.hold("ann", true, in: "r"))
            try Patience.until("the broker is asked") { world.state.withLock { $0.searches == ["r"] } }
            // The next room of that name must not get it.
            world.change { $0.homes = ["r": "b/1"] }
            _ = outgoing.relay(Self.hold("bob", true, in: "r"))
            try world.expect([Self.hold("bob", true, in: "r")], at: "b/1")
        }
    }

    /// Its home has ended, or has handed it over.
    @Test func roomWithoutAHomeGoesOnForItsCommands() throws {
        let world = World()
        world.change { $0.restorable = ["r": .here, "drained": .elsewhere(node: "b/1")] }
        try world.run { outgoing in
            for isHeld in [true, false] { _ = outgoing.relay(Self.hold("ann", isHeld, in: "r")) }
            _ = outgoing.relay(Self.hold("bob", true, in: "drained"))
            try world.expect([Self.hold("ann", true, in: "r"), Self.hold("ann", false, in: "r")], at: "a/1")
            try world.expect([Self.hold("bob", true, in: "drained")], at: "b/1")
        }
    }

    @Test func commandsWaitForARoomThatWaitsForTheStore() throws {
        let world = World()
        world.change { $0.restorable = ["r": .unavailable, "other": .here] }
        try world.run { outgoing in
            _ = outgoing.relay(Self.hold("ann", true, in: "r"))
            _ = outgoing.relay(Self.hold("bob", true, in: "other"))
            try world.expect([Self.hold("bob", true, in: "other")], at: "a/1")
            world.change { $0.restorable["r"] = .here }
            try world.expect([Self.hold("bob", true, in: "other"), Self.hold("ann", true, in: "r")], at: "a/1")
            #expect(world.state.withLock { $0.lost } == 0)
        }
    }

    @Test func commandsToARoomThatOpensHereAreDeliveredHere() throws {
        let world = World()
        world.change { $0.homes = nil }
        try world.run { outgoing in
            for isHeld in [true, false] { _ = outgoing.relay(Self.hold("ann", isHeld, in: "r")) }
            world.change { _ = $0.openHere.insert("r") }
            try world.expect([Self.hold("ann", true, in: "r"), Self.hold("ann", false, in: "r")], at: "a/1")
        }
    }

    @Test func commandsBeyondTheLimitAreRefusedAndCounted() throws {
        let world = World()
        world.change { $0.homes = nil }
        try world.run { outgoing in
            let command = Self.hold("ann", true, in: "r")
            for _ in 0..<OutgoingMessages.waitingMax { #expect(outgoing.relay(command) == .taken) }
            #expect(outgoing.relay(command) == .refused)
            #expect(world.state.withLock { $0.lost } == 1)
        }
    }

    // MARK: Nodes that end

    @Test func messagesOnTheirWayToACoordinatorThatEndsComeBeforeLaterOnes() throws {
        let world = World()
        world.change { ($0.coordinator, $0.reachable) = ("b/1", ["c/1"]) }
        try world.run { outgoing in
            for number in 1...3 { #expect(outgoing.relay(Self.report(number)) == .taken) }
            try Patience.until("they are under way") { world.state.withLock { $0.attempts["b/1", default: 0] > 0 } }
            // The next coordinator is known before the old one's silence has come to an end for its outbox.
            world.change { ($0.coordinator, $0.running) = ("c/1", ["c/1"]) }
            for number in 4...6 { #expect(outgoing.relay(Self.report(number)) == .taken) }
            try world.expect((1...6).map(Self.report), at: "c/1")
        }
    }

    @Test func messagesThatCameBackWaitForACoordinatorBeforeLaterOnes() throws {
        let world = World()
        world.change { ($0.coordinator, $0.reachable) = ("b/1", ["c/1"]) }
        try world.run { outgoing in
            for number in 1...3 { _ = outgoing.relay(Self.report(number)) }
            world.change { ($0.coordinator, $0.running) = (nil, ["c/1"]) }
            _ = outgoing.relay(Self.report(4))
            outgoing.nodeEnded()
            _ = outgoing.relay(Self.report(5))
            world.change { $0.coordinator = "c/1" }
            try world.expect((1...5).map(Self.report), at: "c/1")
        }
    }

    @Test func nodeThatBecomesTheCoordinatorHandlesEarlierMessagesFirst() throws {
        let world = World()
        world.change { ($0.coordinator, $0.reachable) = ("b/1", []) }
        try world.run { outgoing in
            for number in 1...3 { _ = outgoing.relay(Self.report(number)) }
            world.change { ($0.coordinator, $0.running) = ("a/1", ["c/1"]) }
            #expect(outgoing.relay(Self.report(4)) == .taken, "not at once")
            try world.expect((1...4).map(Self.report), at: "a/1")
            try Patience.until("later ones need not wait") { outgoing.relay(Self.report(5)) == .here }
        }
    }

    @Test func commandsOnTheirWayToAHomeThatEndsComeBeforeLaterOnes() throws {
        let world = World()
        world.change { $0.reachable = ["c/1"] }
        try world.run { outgoing in
            outgoing.noteHome(of: "r", "b/1")
            let commands = [true, false, true, false].map { Self.hold("ann", $0, in: "r") }
            for command in commands.prefix(2) { _ = outgoing.relay(command) }
            // Another node has restored the room, and announces it.
            world.change { $0.running = ["c/1"] }
            outgoing.noteHome(of: "r", "c/1")
            for command in commands.suffix(2) { _ = outgoing.relay(command) }
            try world.expect(commands, at: "c/1")
        }
    }
}
