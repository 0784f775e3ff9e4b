import Testing
import Wire

@testable import Engine

struct AgentActivityTests {
    private func states(_ call: inout PlayoutWorld) -> [AgentState] {
        call.world.takeEvents(call.ann).compactMap { if case .agentState(_, let state) = $0 { state } else { nil } }
    }

    @Test func speakingIsReportedWhenPlayoutStarts() throws {
        var call = try PlayoutWorld()
        call.world.send(call.helper, .agentState(.thinking))
        #expect(call.world.send(call.helper, .agentState(.speaking)) == .reply(.done))
        #expect(states(&call) == [.thinking])
        call.pass(1_000)
        call.starts()
        #expect(states(&call) == [.speaking])
    }

    @Test func stateAnnouncedDuringPlayoutIsReportedAtItsEnd() throws {
        var call = try PlayoutWorld()
        call.world.send(call.helper, .agentState(.speaking))
        call.starts()
        call.world.send(call.helper, .agentState(.thinking))
        call.pass(1_000)
        #expect(states(&call) == [.speaking])
        call.drains(at: 1_300)
        call.pass(1_000)
        #expect(states(&call) == [.thinking])
    }

    @Test func agentListensAfterPlayoutByDefault() throws {
        var call = try PlayoutWorld()
        call.world.send(call.helper, .agentState(.thinking))
        call.plays(500)
        call.pass(1_000)
        #expect(states(&call) == [.thinking, .speaking, .listening])
        let late = call.world.join("late")
        guard case .hello(let hello) = call.world.takeEvents(late).first else { throw Unexpected(what: "no hello") }
        #expect(hello.participants.last?.attributes["lk.agent.state"] == "listening")
    }

    @Test func clearEndsSpeaking() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.clear(publishedTo: 1_000)
        #expect(states(&call) == [.speaking, .listening])
    }

    @Test func unpublishingEndsSpeaking() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.world.send(call.helper, .unpublish(call.track.sid))
        #expect(states(&call) == [.speaking, .listening])
    }

    @Test func speakingEndsWithTheLastOfTwoTracks() throws {
        var call = try PlayoutWorld()
        let other = try call.world.publish(call.helper, PublishTrack(mode: .ahead))
        call.starts()
        call.world.receive(.playout(other.sid, .started(epoch: 0, at: call.first, playsAt: call.world.now)))
        call.drains(at: 100)
        call.pass(1_000)
        #expect(states(&call) == [.speaking])
        call.world.receive(.playout(other.sid, .drained(epoch: 0, end: call.time(900))))
        call.pass(1_000)
        #expect(states(&call) == [.listening])
    }

    @Test func speakingWithoutPlayoutIsReportedAfterATimeout() throws {
        var call = try PlayoutWorld()
        call.world.send(call.helper, .agentState(.speaking))
        call.pass(4_999)
        #expect(states(&call).isEmpty)
        call.pass(1)
        #expect(states(&call) == [.speaking])
    }

    @Test func withdrawnSpeakingIsNeverReported() throws {
        var call = try PlayoutWorld()
        call.world.send(call.helper, .agentState(.speaking))
        call.world.send(call.helper, .agentState(.listening))
        call.pass(10_000)
        #expect(states(&call) == [.listening])
    }

    @Test func playoutOfAStandardParticipantDoesNotChangeAgentState() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(bob, PublishTrack(mode: .ahead))
        world.discardEvents()
        world.receive(.playout(track.sid, .started(epoch: 0, at: MediaTime(ticks: 0), playsAt: world.now)))
        #expect(world.takeEvents(ann).words == ["playoutStarted"])
    }
}
