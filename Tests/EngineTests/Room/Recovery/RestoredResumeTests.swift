import Testing
import Wire

@testable import Engine

/// Clients that resume in a restored room.
struct RestoredResumeTests {
    private var world = RoomWorld()
    private let ann, bob: ParticipantHandle

    init() {
        ann = world.join("ann")
        bob = world.join("bob")
    }

    // MARK: Tracks

    @Test mutating func publisherPublishesAgainForThoseWhoAreThere() throws {
        let (own, other) = (try world.publish(ann), try world.publish(bob))
        world.send(ann, .mute(own.sid, muted: true))
        try world.loseNode()
        let cid = world.join("cid")
        #expect(!world.trace.contains { $0.hasPrefix("patch") }, "nobody publishes yet")
        let back = world.comeBack("ann")
        #expect(
            world.trace == [
                "patch publish 1 by ann", "patch gate 1 muted", "patch subscribe cid to 1", "hand over ann to ann", "hello > ann",
                "participantUpdated > ann", "participantUpdated > bob cid",
            ])
        #expect(world.gates[own.alias] == .muted && world.gates[other.alias] == nil)
        _ = world.comeBack("bob")
        #expect(world.trace.prefix(3) == ["patch publish 2 by bob", "patch subscribe ann to 2", "patch subscribe cid to 2"])
        #expect(world.trace.contains("patch subscribe bob to 1"))
        #expect(world.receives(back, other) && world.receives(cid, other))
    }

    @Test mutating func secondResumeMovesTheTracksAsUsual() throws {
        _ = (try world.publish(ann), try world.publish(bob))
        try world.loseNode()
        let back = world.comeBack("ann")
        world.receive(.connectionLost(back, .signalClose))
        world.join("ann", resuming: "resume-ann-1")
        #expect(world.trace.contains("patch move 1 from ann to ann subscribed by "), "bob has not resumed")
    }

    @Test mutating func recordingOfTheNewNodeTapsTracksThatAreThere() throws {
        _ = try world.publish(ann)
        try world.loseNode()
        world.receive(.administered(.startRecording))
        #expect(!world.trace.contains { $0.hasPrefix("tap") })
        _ = world.comeBack("ann")
        #expect(world.trace.prefix(2) == ["patch publish 1 by ann", "tap 1 by ann"])
    }

    @Test mutating func changesOfAbsentMembersTakeEffectOnTheirResume() throws {
        let (own, other) = (try world.publish(ann), try world.publish(bob))
        try world.loseNode()
        world.receive(.administered(.mute(own.sid, muted: true)))
        world.receive(.administered(.hold("bob", true)))
        world.receive(.administered(.updatePermission("ann", Permission(canSubscribe: false))))
        world.receive(.administered(.agentExpected("helper", true)))
        #expect(world.gates.isEmpty && world.options.isEmpty && world.kept.isEmpty)
        let back = world.comeBack("ann")
        _ = world.comeBack("bob")
        #expect(world.gates == [own.alias: .muted, other.alias: .held])
        #expect(world.options.isEmpty && world.kept == [own.alias, other.alias])
        #expect(world.send(back, .unpublish(own.sid)) == .reply(.done))
    }

    @Test mutating func absentPublishersTrackCanBeClearedAtOnce() throws {
        let helper = world.join("helper", kind: .agent)
        let track = try world.publish(helper, PublishTrack(source: .assistant, mode: .ahead))
        try world.loseNode()
        let back = world.comeBack("ann")
        let answer = world.send(back, .playoutClear(track.sid, reason: "barge-in"))
        guard case .reply(.cleared(let cleared)) = answer else { throw Unexpected(what: "no answer") }
        #expect(cleared.epoch == 3)
        _ = world.comeBack("helper", kind: .agent)
        guard case .patch(.publish(let info, _))? = world.effects.first else { throw Unexpected(what: "not published") }
        #expect(info.epoch == 3)
    }

    @Test mutating func removedMembersNeedNoPatches() throws {
        _ = (try world.publish(ann), try world.publish(bob))
        let handles = try world.loseNode()
        world.receive(.administered(.remove("ann")))
        #expect(world.closed[try #require(handles["ann"])] == .removed)
        world.join("bob")
        #expect(world.closed[try #require(handles["bob"])] == .duplicateIdentity)
        #expect(world.room.trackCount == 0 && world.gates.isEmpty)
        world.receive(.administered(.delete))
        #expect(world.room.isOver)
    }

    // MARK: Snapshots

    @Test mutating func snapshotIsRepeatedUntilItHasArrived() throws {
        try world.loseNode()
        let first = world.comeBack("ann")
        world.receive(.connectionLost(first, .signalClose))
        let second = world.join("ann", resuming: "resume-ann")
        #expect(world.takeEvents(second).hello?.snapshot == true, "the first may be lost with its connection")
        world.receive(.resumeConfirmed(second))
        world.receive(.connectionLost(second, .signalClose))
        let hello = try #require(world.takeEvents(world.join("ann", resuming: "resume-ann-2")).hello)
        #expect(hello.resumed == true && hello.snapshot == nil)
    }

    @Test mutating func snapshotDescribesTheWholeRoom() throws {
        let track = try world.publish(bob)
        world.send(bob, .segment(TranscriptSegment(id: "s", role: .user, text: "hi")))
        world.send(bob, .hold(true))
        world.receive(.administered(.muteParticipant("ann", true)))
        world.receive(.administered(.agentWaiting("helper", .busy)))
        try world.loseNode()
        world.receive(.administered(.startRecording))
        let events = world.takeEvents(world.comeBack("ann"))
        #expect(events.hello?.participants.first?.tracks == [track])
        #expect(
            events.words == [
                "hello", "recordingStarted", "agentWaiting", "segment", "callHeld", "callMuted", "participantUpdated",
            ])
        #expect(events.contains(.callMuted(by: "ann")), "its own state may have been missed too")
    }

    @Test mutating func snapshotHasNoTextForThoseWhoGetNone() throws {
        world.join("car", receivesText: false)
        world.send(bob, .segment(TranscriptSegment(id: "s", role: .user, text: "hi")))
        try world.loseNode()
        let car = world.join("car", receivesText: false, resuming: "resume-car")
        #expect(world.takeEvents(car).words == ["hello", "participantUpdated", "participantUpdated"])
    }

    @Test mutating func hiddenMemberStaysHidden() throws {
        world.join("spy", permission: Permission(hidden: true))
        try world.loseNode()
        let back = world.comeBack("ann")
        #expect(world.takeEvents(back).hello?.participants.map(\.identity) == ["bob"])
        let spy = world.comeBack("spy")
        #expect(world.takeEvents(spy).hello?.resumed == true)
        #expect(world.takeEvents(back).isEmpty)
        world.pass(.seconds(20))
        #expect(world.takeEvents(back).words == ["participantLeft"], "bob")
    }

    @Test mutating func agentGetsItsBriefingAgain() throws {
        let briefing = SessionBriefing(sessionId: "s", context: "phone")
        world.join("helper", kind: .agent, briefing: briefing)
        try world.loseNode()
        #expect(world.takeEvents(world.comeBack("ann", briefing: briefing)).hello?.session == nil)
        #expect(world.takeEvents(world.comeBack("helper", kind: .agent, briefing: briefing)).hello?.session == briefing)
    }
}
