import Testing
import Wire

@testable import Engine

/// Events of a restored room, and the time for which it waits for its members.
struct RestoreTests {
    // MARK: Members

    @Test func everybodyIsReconnectingAfterARestore() throws {
        var world = RoomWorld()
        world.join("ann")
        world.join("helper", kind: .agent)
        try world.loseNode()
        #expect(world.room.reconnecting.map(\.identity) == ["ann", "helper"])
        #expect(world.room.participantCount == 1)
    }

    @Test func absentMembersLeaveAfterTheResumeWindow() throws {
        var world = RoomWorld(RoomSettings(reporting: .events))
        world.join("ann")
        try _ = world.publish(world.join("helper", kind: .agent))
        let handles = try world.loseNode(over: RoomSettings(reporting: .events))
        let cid = world.join("cid")
        world.discardEvents()
        world.pass(.milliseconds(19_999))
        #expect(world.closed.isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.takeEvents(cid).words == ["participantLeft", "trackUnpublished", "participantLeft", "agentLost"])
        #expect(
            world.closed
                == [handles["ann"]: .resumeWindowOver, handles["helper"]: .resumeWindowOver].reduce(into: [:]) { $0[$1.key!] = $1.value })
        #expect(
            !world.history.contains { if case .patch = $0 { world.effects.contains($0) } else { false } }, "this node never had a patch")
    }

    @Test func restoreRecordsNeitherTheStartNorTheMembersAgain() throws {
        let settings = RoomSettings(reporting: .eventsAndText)
        var world = RoomWorld(settings)
        let ann = world.join("ann")
        _ = try world.publish(ann)
        try world.loseNode(over: settings)
        #expect(world.auditEvents.isEmpty)
        #expect(world.effects.isEmpty)
    }

    /// The earlier node has answered for them, but may not have stored them.
    @Test func finalSegmentsAreRecordedAgain() throws {
        let settings = RoomSettings(reporting: .eventsAndText)
        var world = RoomWorld(settings)
        let ann = world.join("ann")
        for (id, rev, isFinal) in [("s1", 0, true), ("s1", 3, true), ("s2", 0, false)] {
            world.send(ann, .segment(TranscriptSegment(id: id, rev: rev, role: .user, text: "\(id) \(rev)", final: isFinal)))
        }
        world.pass(.seconds(2))
        try world.loseNode(over: settings)
        let said: [Room.TranscribedSegment] = world.auditEvents.compactMap { if case .transcribed(let said) = $0 { said } else { nil } }
        #expect(world.auditEvents.count == 1 && said.map(\.segment.text) == ["s1 3"])
        #expect(said.first?.began == .seconds(-2))
        try world.loseNode(.moved, over: settings)
        #expect(world.auditEvents.isEmpty, "a node that gives a room away has stored them")
        try world.loseNode(over: RoomSettings(reporting: .events))
        #expect(world.auditEvents.isEmpty, "no text leaves a room whose session is not logged")
    }

    @Test func dispatchLearnsWhoWasInTheRoom() throws {
        var settings = RoomSettings()
        settings.reporting.reportsAgents = true
        var world = RoomWorld(settings)
        world.join("ann")
        world.join("helper", kind: .agent)
        try world.loseNode(over: settings)
        #expect(world.trace == ["attended", "agent helper away"])
        _ = world.comeBack("helper", kind: .agent)
        #expect(world.trace.last == "agent helper present")
    }

    @Test func restoredEmptyRoomEndsAfterItsOwnTimeout() throws {
        var world = RoomWorld(RoomSettings(emptyTimeout: .seconds(30), departureTimeout: .seconds(5)))
        world.receive(.opened)
        var used = world
        used.receive(.left(used.join("ann"), .clientInitiated))
        try world.loseNode()
        world.pass(.seconds(29))
        #expect(!world.room.isOver)
        world.pass(.seconds(1))
        #expect(world.room.isOver)
        try used.loseNode()
        used.pass(.seconds(5))
        #expect(used.room.isOver)
    }

    @Test func roomOfADrainingNodeIsOpenAgain() throws {
        var world = RoomWorld()
        world.join("ann")
        world.receive(.draining(deadline: 1))
        #expect(try world.image().isDraining)
        try world.loseNode(.moved)
        _ = world.comeBack("ann")
        #expect(try !world.image().isDraining)
    }

    @Test func roomIsFullWithItsAbsentMembers() throws {
        var world = RoomWorld(RoomSettings(maxParticipants: 1))
        world.join("ann")
        try world.loseNode()
        #expect(world.closed[world.join("bob")] == .limit)
        let ann = world.comeBack("ann")
        #expect(world.closed[ann] == nil)
    }

    @Test func newTracksGetOtherAliases() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let (first, second) = (try world.publish(ann), try world.publish(ann))
        world.send(ann, .unpublish(second.sid))
        try world.loseNode()
        let back = world.comeBack("ann")
        let third = try world.publish(back)
        #expect(![first.alias, second.alias].contains(third.alias))
        #expect(third.sid != second.sid)
    }

    // MARK: Losses

    @Test func recordingInProgressHasFailed() throws {
        var world = RoomWorld(RoomSettings(reporting: .events))
        let ann = world.join("ann")
        _ = try world.publish(ann)
        world.receive(.administered(.startRecording))
        let recording = try #require(world.room.recording)
        let handles = try world.loseNode(over: RoomSettings(reporting: .events))
        #expect(world.room.recording == nil)
        #expect(world.auditEvents == [.recordingStopped(recording, .failed)])
        #expect(world.received == [try #require(handles["ann"]): [.recordingStopped(recording, .failed)]])
    }

    @Test func talkAndSpeakersEnd() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        for _ in 0..<3 {
            world.receive(
                .measured([TrackMeasurement(track: track.sid, windowMilliseconds: 400, activeMilliseconds: 400, loudestLevel: 5)]))
            world.pass(.milliseconds(400))
        }
        #expect(world.room.activeSpeakers.count == 1)
        let handles = try world.loseNode()
        let events = world.takeEvents(try #require(handles["ann"]))
        #expect(events.first == .talkStopped("ann", track.sid, at: MediaTime(ticks: 1_200 * 48), reason: .silence))
        guard case .speakersChanged(let speakers) = events.last else { throw Unexpected(what: "no speakers") }
        #expect(events.count == 2 && speakers.map(\.active) == [false])
        world.pass(.seconds(2))
        #expect(world.takeEvents(try #require(handles["ann"])).isEmpty)
    }

    @Test func procedureCallsAreGone() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        world.receive(.administered(.callProcedure(ProcedureCall(to: "ann", method: "m", timeoutMs: 1_000), number: 1)))
        guard case .procedureCalled(let id, _, _, _, _)? = world.takeEvents(ann).last else { throw Unexpected(what: "no call") }
        try world.loseNode()
        let back = world.comeBack("ann")
        #expect(world.send(back, .answerProcedure(ProcedureAnswer(requestId: id, payload: "x")))?.code == .notFound)
        world.pass(.seconds(10))
        #expect(world.outcomes.isEmpty)
    }

    @Test(arguments: [Room.RestoreReason.nodeLost, .moved])
    func aheadTracksAreCleared(reason: Room.RestoreReason) throws {
        var call = try PlayoutWorld()
        call.starts()
        call.mark(200, "heard")
        call.mark(9_000, "not heard")
        call.pass(100)
        call.report(100, buffered: 300)
        call.pass(200)
        call.world.now = call.world.now + .milliseconds(1)
        let text = String(repeating: "word ", count: 20)
        call.world.send(call.helper, .segment(TranscriptSegment(id: "s", role: .assistant, text: text, final: true)))
        let heard = call.world.room.image(at: call.world.now).tracks[0].playout?.utterance?.heard ?? 0
        let handles = try call.world.loseNode(reason)
        let (ann, helper) = (try #require(handles["ann"]), try #require(handles["helper"]))
        let events = call.world.takeEvents(ann)
        #expect(events.words == ["playoutCleared", "segment", "agentState"])
        guard case .playoutCleared(let cleared, let by) = events.first, case .segment(let segment) = events[1] else { return }
        #expect(by.text.isEmpty && cleared.reason == (reason == .moved ? "moved" : "node_lost") && cleared.epoch == 2)
        #expect(cleared.heard == HeardPosition(playedTs: call.first.advanced(by: Int(heard)).ticks, playedMs: 301, isEstimated: false))
        #expect(segment.spoken == .interrupted && segment.rev == 1)
        #expect(events.last == .agentState("helper", .listening))
        let marks = call.world.takeEvents(helper).compactMap {
            if case .playoutMarked(_, let name, let status, _) = $0 { "\(name) \(status)" } else { nil }
        }
        #expect(marks == ["not heard cleared"], "the other one was answered by the old node")
        #expect(call.world.room.participants.last?.tracks?.first?.epoch == 2)
        call.world.pass(.seconds(15))
        #expect(call.world.takeEvents(ann).isEmpty && call.world.takeEvents(helper).isEmpty)
    }

    @Test func markReachedSinceTheLastInputCountsAsPlayed() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.mark(100)
        call.world.now = call.world.now + .milliseconds(110)
        let handles = try call.world.loseNode()
        let answer = call.world.received[try #require(handles["helper"])]?.first
        #expect(answer == .playoutMarked(call.track.sid, name: "m", .played, at: call.time(110)))
    }

    @Test func idleAheadTrackIsClearedToo() throws {
        var call = try PlayoutWorld()
        let handles = try call.world.loseNode()
        guard case .playoutCleared(let cleared, _)? = call.world.received[try #require(handles["ann"])]?.first else {
            throw Unexpected(what: "no clear")
        }
        #expect(cleared.heard.playedTs == nil && cleared.epoch == 2, "its queue may have had frames")
    }

    @Test func clearThatTheEarlierNodeStillCompletedHasAnotherEpoch() throws {
        var call = try PlayoutWorld()
        call.starts()
        let image = try call.world.image()
        call.world.send(call.ann, .playoutClear(call.track.sid, reason: "barge-in"))
        let known = call.world.room.participants.last?.tracks?.first?.epoch
        try call.world.loseNode(image: image)
        let epoch = call.world.room.participants.last?.tracks?.first?.epoch
        #expect(known == 1 && epoch == 2)
    }

    @Test func pendingClearIsCompletedFirst() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.mark(9_000)
        call.pass(500)
        call.world.send(call.ann, .playoutClear(call.track.sid, reason: "barge-in"))
        let handles = try call.world.loseNode()
        let events = call.world.takeEvents(try #require(handles["helper"]))
        let clears = events.compactMap { if case .playoutCleared(let cleared, let by) = $0 { (cleared, by) } else { nil } }
        #expect(clears.map(\.0.epoch) == [1, 3] && clears.map(\.0.reason) == ["barge-in", "node_lost"])
        #expect(clears.map(\.1) == ["ann", Identity(text: "")] && clears[0].0.heard == call.heard(500, isEstimated: true))
        #expect(events.words.count { $0 == "playoutMarked" } == 1)
        #expect(call.world.answers.isEmpty, "its request is lost with its connection")
    }

    @Test func restoreIsReportedByTheFirstInputWhateverItIs() throws {
        var call = try PlayoutWorld()
        let handles = try call.world.loseNode(isReported: false)
        call.world.pass(.seconds(20))
        #expect(call.world.history.contains { if case .send(.playoutCleared, _) = $0 { true } else { false } })
        #expect(call.world.closed.count == handles.count)
    }
}
