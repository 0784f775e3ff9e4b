import Testing
import Wire

@testable import Engine

struct BriefingTests {
    private let briefing = SessionBriefing(
        sessionId: "s", context: "phone", clientContext: "on the road",
        pastSummaries: [PastSummary(title: "t", summary: "u", endedAt: 1_700_000_000)])

    private func hello(_ world: inout RoomWorld, _ handle: ParticipantHandle) -> Hello? {
        guard case .hello(let hello) = world.takeEvents(handle).first else { return nil }
        return hello
    }

    @Test(arguments: ParticipantKind.allCases)
    func onlyAgentsReceiveTheBriefing(kind: ParticipantKind) throws {
        var world = RoomWorld()
        let handle = world.join("ann", kind: kind, briefing: briefing)
        #expect(try #require(hello(&world, handle)).session == (kind == .agent ? briefing : nil))
    }

    @Test(arguments: ParticipantKind.allCases, [true, false])
    func usersLearnWhetherTheirWordsAreStored(kind: ParticipantKind, reportsText: Bool) throws {
        var world = RoomWorld(RoomSettings(reporting: RoomReporting(reportsText: reportsText)))
        let told = try #require(hello(&world, world.join("ann", kind: kind)))
        #expect(told.logged == (kind.isDependent ? nil : reportsText))
        let car = try #require(hello(&world, world.join("car", kind: kind, receivesText: false)))
        #expect(car.logged == (kind.isDependent ? nil : false))
    }

    @Test func briefingIsNotRevealedToOthers() throws {
        var world = RoomWorld()
        let ann = world.join("ann", briefing: briefing)
        world.join("helper", kind: .agent, briefing: briefing)
        #expect(world.received[ann]?.contains { "\($0)".contains("on the road") } == false)
    }

    @Test func resumedAgentReceivesTheCurrentBriefing() throws {
        var world = RoomWorld()
        let before = world.join("helper", kind: .agent, briefing: briefing)
        world.receive(.connectionLost(before, .signalClose))
        var later = briefing
        later.pastSummaries = nil
        let after = world.join("helper", kind: .agent, briefing: later, resuming: "resume-helper")
        let hello = try #require(hello(&world, after))
        #expect(hello.resumed == true && hello.session == later)
    }
}
