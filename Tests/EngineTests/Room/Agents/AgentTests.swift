import Testing
import Wire

@testable import Engine

struct AgentTests {
    @Test func agentStateIsReportedToOthers() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        for state in AgentState.allCases {
            #expect(world.send(helper, .agentState(state)) == .reply(.done))
            #expect(world.trace == ["reply > helper", "agentState > ann"])
            #expect(world.takeEvents(ann).last == .agentState("helper", state))
        }
    }

    @Test func unchangedStateIsOnlyAcknowledged() {
        var world = RoomWorld()
        world.join("ann")
        let helper = world.join("helper", kind: .agent)
        world.send(helper, .agentState(.thinking))
        #expect(world.send(helper, .agentState(.thinking)) == .reply(.done))
        #expect(world.trace == ["reply > helper"])
    }

    @Test func onlyAgentsHaveAState() {
        var world = RoomWorld()
        let ann = world.join("ann", isRoomAdmin: true)
        #expect(world.send(ann, .agentState(.thinking))?.code == .notAllowed)
    }

    @Test func newcomerReadsTheStateAttribute() throws {
        var world = RoomWorld()
        let helper = world.join("helper", kind: .agent, attributes: ["language": "de"])
        world.send(helper, .agentState(.speaking))
        let ann = world.join("ann")
        guard case .hello(let hello) = world.takeEvents(ann).first else { throw Unexpected(what: "no hello") }
        #expect(hello.participants.map(\.attributes) == [["language": "de", "lk.agent.state": "speaking"]])
    }

    @Test func tokenOmitsTheAgentState() {
        var world = RoomWorld()
        let helper = world.join("helper", kind: .agent, attributes: ["language": "de"])
        world.send(helper, .agentState(.speaking))
        world.send(helper, .refreshToken)
        #expect(world.tokens.map(\.content.attributes) == [["language": "de"]])
    }

    @Test func agentJoinedFollowsParticipantJoined() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.discardEvents()
        world.join("helper", kind: .agent)
        guard case .participantJoined(let joined) = world.takeEvents(ann).first else { throw Unexpected(what: "nobody joined") }
        #expect(joined.kind == .agent && joined.identity == "helper" && joined.tracks == [])
        #expect(world.trace == ["hello > helper", "participantJoined > ann", "agentJoined > ann"])
    }

    @Test func onlyAgentsAreAnnouncedAsAgents() {
        var world = RoomWorld()
        let ann = world.join("ann")
        for kind in ParticipantKind.allCases where kind != .agent { world.join("\(kind)", kind: kind) }
        #expect(!world.takeEvents(ann).words.contains("agentJoined"))
    }

    @Test func agentLostFollowsTheEndOfItsTracks() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        _ = try world.publish(helper, PublishTrack(source: .assistant))
        world.discardEvents()
        world.receive(.left(helper, .connectionTimeout))
        #expect(world.takeEvents(ann).words == ["trackUnpublished", "participantLeft", "agentLost"])
    }

    @Test func standardParticipantIsNeverReportedAsLostAgent() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.receive(.left(bob, .connectionTimeout))
        #expect(!world.takeEvents(ann).words.contains("agentLost"))
    }

    @Test func hiddenAgentCausesNoEvents() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.discardEvents()
        let helper = world.join("helper", kind: .agent, permission: Permission(hidden: true))
        world.send(helper, .agentState(.listening))
        world.receive(.left(helper, .signalClose))
        #expect(world.takeEvents(ann).isEmpty)
    }
}
