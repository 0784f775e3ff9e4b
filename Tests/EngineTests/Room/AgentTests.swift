import Engine
import Testing
import Wire

struct AgentTests {
    @Test func theOthersFollowWhatAnAgentIsDoing() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        for state in AgentState.allCases {
            #expect(world.ask(helper, .agentState(state)) == .reply(.done))
            #expect(world.trace == ["reply > helper", "agentState > ann"])
            #expect(world.news(ann).last == .agentState("helper", state))
        }
    }

    @Test func aStateThatIsNoNewsIsOnlyAnswered() {
        var world = RoomWorld()
        world.join("ann")
        let helper = world.join("helper", kind: .agent)
        world.ask(helper, .agentState(.thinking))
        #expect(world.ask(helper, .agentState(.thinking)) == .reply(.done))
        #expect(world.trace == ["reply > helper"])
    }

    @Test func onlyAnAgentHasAState() {
        var world = RoomWorld()
        let ann = world.join("ann", isRoomAdmin: true)
        #expect(world.ask(ann, .agentState(.thinking))?.code == .notAllowed)
    }

    @Test func aNewcomerReadsTheStateFromTheAttribute() throws {
        var world = RoomWorld()
        let helper = world.join("helper", kind: .agent, attributes: ["language": "de"])
        world.ask(helper, .agentState(.speaking))
        let ann = world.join("ann")
        guard case .hello(let hello) = world.news(ann).first else { throw Unexpected(what: "no hello") }
        #expect(hello.participants.map(\.attributes) == [["language": "de", "lk.agent.state": "speaking"]])
    }

    @Test func aStateIsNoPropertyToComeBackWith() {
        var world = RoomWorld()
        let helper = world.join("helper", kind: .agent, attributes: ["language": "de"])
        world.ask(helper, .agentState(.speaking))
        world.ask(helper, .refreshToken)
        #expect(world.tokens.map(\.content.attributes) == [["language": "de"]])
    }

    @Test func anAgentIsAnnouncedBesideTheNewcomerItIs() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.forgetNews()
        world.join("helper", kind: .agent)
        guard case .participantJoined(let joined) = world.news(ann).first else { throw Unexpected(what: "nobody joined") }
        #expect(joined.kind == .agent && joined.identity == "helper" && joined.tracks == [])
        #expect(world.trace == ["hello > helper", "participantJoined > ann", "agentJoined > ann"])
    }

    @Test func onlyAgentsAreAnnouncedSo() {
        var world = RoomWorld()
        let ann = world.join("ann")
        for kind in ParticipantKind.allCases where kind != .agent { world.join("\(kind)", kind: kind) }
        #expect(!world.news(ann).words.contains("agentJoined"))
    }

    @Test func aLostAgentIsMissedAfterItsTracks() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        _ = try world.publish(helper, PublishTrack(source: .assistant))
        world.forgetNews()
        world.happens(.left(helper, .connectionTimeout))
        #expect(world.news(ann).words == ["trackUnpublished", "participantLeft", "agentLost"])
    }

    @Test func aPersonIsNeverALostAgent() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.happens(.left(bob, .connectionTimeout))
        #expect(!world.news(ann).words.contains("agentLost"))
    }

    @Test func aHiddenAgentComesWorksAndGoesUnseen() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.forgetNews()
        let helper = world.join("helper", kind: .agent, permission: Permission(hidden: true))
        world.ask(helper, .agentState(.listening))
        world.happens(.left(helper, .signalClose))
        #expect(world.news(ann).isEmpty)
    }
}
