import Engine
import Testing
import Wire

struct AgentActivityTests {
    private func states(_ call: inout PlayoutWorld) -> [AgentState] {
        call.world.news(call.ann).compactMap { if case .agentState(_, let state) = $0 { state } else { nil } }
    }

    @Test func speakingIsToldWhenItIsHeard() throws {
        var call = try PlayoutWorld()
        call.world.ask(call.helper, .agentState(.thinking))
        #expect(call.world.ask(call.helper, .agentState(.speaking)) == .reply(.done))
        #expect(states(&call) == [.thinking])
        call.pass(1_000)
        call.begins()
        #expect(states(&call) == [.speaking])
    }

    @Test func whatItSaysMeanwhileIsToldAtTheEnd() throws {
        var call = try PlayoutWorld()
        call.world.ask(call.helper, .agentState(.speaking))
        call.begins()
        call.world.ask(call.helper, .agentState(.thinking))
        call.pass(1_000)
        #expect(states(&call) == [.speaking])
        call.runsDry(at: 1_300)
        call.pass(1_000)
        #expect(states(&call) == [.thinking])
    }

    @Test func withoutAnotherWordItListensAfterwards() throws {
        var call = try PlayoutWorld()
        call.world.ask(call.helper, .agentState(.thinking))
        call.speaks(500)
        call.pass(1_000)
        #expect(states(&call) == [.thinking, .speaking, .listening])
        let late = call.world.join("late")
        guard case .hello(let hello) = call.world.news(late).first else { throw Unexpected(what: "no hello") }
        #expect(hello.participants.last?.attributes["lk.agent.state"] == "listening")
    }

    @Test func aClearEndsTheSpeaking() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.clear(publishedTo: 1_000)
        #expect(states(&call) == [.speaking, .listening])
    }

    @Test func aTrackThatEndsEndsTheSpeaking() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.world.ask(call.helper, .unpublish(call.track.sid))
        #expect(states(&call) == [.speaking, .listening])
    }

    @Test func withTwoTracksTheLastOneCounts() throws {
        var call = try PlayoutWorld()
        let other = try call.world.publish(call.helper, PublishTrack(mode: .ahead))
        call.begins()
        call.world.happens(.playout(other.sid, .started(epoch: 0, at: call.first, playsAt: call.world.now)))
        call.runsDry(at: 100)
        call.pass(1_000)
        #expect(states(&call) == [.speaking])
        call.world.happens(.playout(other.sid, .drained(epoch: 0, end: call.time(900))))
        call.pass(1_000)
        #expect(states(&call) == [.listening])
    }

    @Test func whoIsNeverHeardIsBelievedInTheEnd() throws {
        var call = try PlayoutWorld()
        call.world.ask(call.helper, .agentState(.speaking))
        call.pass(4_999)
        #expect(states(&call).isEmpty)
        call.pass(1)
        #expect(states(&call) == [.speaking])
    }

    @Test func whoTakesItBackNeverSpoke() throws {
        var call = try PlayoutWorld()
        call.world.ask(call.helper, .agentState(.speaking))
        call.world.ask(call.helper, .agentState(.listening))
        call.pass(10_000)
        #expect(states(&call) == [.listening])
    }

    @Test func aPersonsPlayoutIsNoAgentsState() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(bob, PublishTrack(mode: .ahead))
        world.forgetNews()
        world.happens(.playout(track.sid, .started(epoch: 0, at: MediaTime(ticks: 0), playsAt: world.now)))
        #expect(world.news(ann).words == ["playoutStarted"])
    }
}
