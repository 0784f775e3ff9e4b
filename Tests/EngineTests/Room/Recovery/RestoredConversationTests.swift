import Testing
import Wire

@testable import Engine

/// A user and an agent that is speaking when the node dies.
struct RestoredConversationTests {
    private var call: PlayoutWorld
    private let microphone: TrackInfo

    init() throws {
        call = try PlayoutWorld()
        microphone = try call.world.publish(call.ann)
        call.world.send(call.helper, .segment(TranscriptSegment(id: "s1", role: .assistant, text: "Good morning to you", final: true)))
        call.starts()
        call.pass(500)
        call.mark(2_000)
        call.world.discardEvents()
    }

    private func received(_ handle: ParticipantHandle?) -> [String] {
        handle.flatMap { call.world.received[$0] }.map(\.words) ?? []
    }

    @Test mutating func userResumesFirst() throws {
        let lost = try call.world.loseNode()
        #expect(received(lost["ann"]) == ["playoutCleared", "segment", "agentState"])
        #expect(received(lost["helper"]) == ["playoutCleared", "playoutMarked", "segment"])
        let ann = call.world.comeBack("ann")
        #expect(received(ann) == ["hello", "segment", "participantUpdated"])
        #expect(received(lost["helper"]).last == "participantUpdated", "it waits in the log of the agent")
        let helper = call.world.comeBack("helper", kind: .agent)
        #expect(received(helper) == ["hello", "segment"])
        try goOn(ann, helper)
    }

    @Test mutating func agentResumesFirst() throws {
        let lost = try call.world.loseNode()
        let helper = call.world.comeBack("helper", kind: .agent)
        #expect(received(helper) == ["hello", "segment", "participantUpdated"])
        // It speaks although nobody is there yet.
        call.epoch = 2
        call.starts()
        #expect(received(lost["ann"]).suffix(3) == ["participantUpdated", "playoutStarted", "agentState"])
        let ann = call.world.comeBack("ann")
        #expect(received(ann) == ["hello", "segment", "playoutStarted"])
        call.pass(100)
        call.world.send(helper, .playoutClear(call.track.sid, reason: nil))
        call.epoch = 3
        call.queueReports(.cleared(epoch: 3, end: nil))
        call.world.discardEvents()
        try goOn(ann, helper)
    }

    /// The conversation continues in the epoch of the restored track.
    private mutating func goOn(_ ann: ParticipantHandle, _ helper: ParticipantHandle) throws {
        let own = try #require(call.world.room.participants.last?.tracks?.first)
        call.epoch = own.epoch
        #expect(own.alias == call.track.alias && own.epoch > 0)
        #expect(call.world.receives(ann, call.track) && call.world.receives(helper, microphone))
        call.world.discardEvents()
        call.plays(1_000)
        #expect(
            call.world.send(helper, .playoutMark(PlayoutMark(track: own.sid, ts: call.time(1_000).ticks, name: "end"))) == .reply(.done))
        call.pass(400)
        #expect(call.world.received[ann]?.words.filter { $0.hasPrefix("playout") } == ["playoutStarted", "playoutFinished"])
        #expect(call.world.received[helper]?.contains(.playoutMarked(own.sid, name: "end", .played, at: call.time(1_000))) == true)
        call.world.receive(.talkStarted(microphone.sid, at: MediaTime(ticks: 0)))
        #expect(call.world.received[helper]?.words.last == "talkStarted")
    }
}
