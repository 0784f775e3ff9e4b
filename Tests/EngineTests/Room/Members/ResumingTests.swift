import Testing
import Wire

@testable import Engine

/// Lost connections, with and without a resume.
struct ResumingTests {
    private var world = RoomWorld()
    private let ann, bob: ParticipantHandle

    init() {
        ann = world.join("ann")
        bob = world.join("bob")
        world.discardEvents()
    }

    private mutating func lose(_ handle: ParticipantHandle) { world.receive(.connectionLost(handle, .signalClose)) }

    private mutating func comeBack(_ name: String = "ann", showing token: String? = nil) -> ParticipantHandle {
        world.join(name, resuming: token ?? "resume-\(name)")
    }

    private func greeting(_ events: [Event]) -> Hello? {
        if case .hello(let hello) = events.first { hello } else { nil }
    }

    // MARK: Connection lost

    @Test mutating func lostConnectionIsReportedAsReconnecting() throws {
        lose(ann)
        #expect(world.trace == ["participantUpdated > bob"])
        guard case .participantUpdated(let info, .reconnecting)? = world.takeEvents(bob).first else {
            throw Unexpected(what: "reconnecting")
        }
        #expect(info.identity == "ann")
    }

    @Test mutating func lostParticipantKeepsTracksAndReceivesEvents() throws {
        let track = try world.publish(ann)
        lose(ann)
        #expect(world.receives(bob, track))
        world.discardEvents()
        world.send(bob, .sendText(TextMessage(text: "still there?")))
        #expect(world.takeEvents(ann).words == ["text"])
    }

    @Test mutating func newcomerLearnsOfReconnectingParticipants() {
        lose(ann)
        let cid = world.join("cid")
        #expect(world.takeEvents(cid).words == ["hello", "participantUpdated"])
    }

    @Test mutating func updatesDuringALossStillSayReconnecting() {
        lose(ann)
        world.discardEvents()
        world.receive(.administered(.updatePermission("ann", Permission(canPublish: false))))
        guard case .participantUpdated(_, .reconnecting)? = world.takeEvents(bob).first else {
            Issue.record("it is not reconnected by the change")
            return
        }
    }

    @Test mutating func lostParticipantKeepsTheRoomAlive() {
        world.receive(.left(bob, .clientInitiated))
        lose(ann)
        world.pass(.seconds(19))
        #expect(!world.room.isEmpty)
        world.pass(.seconds(20))
        #expect(!world.room.isOver, "the departure timeout must start when it has left")
        world.pass(.seconds(2))
        #expect(world.room.isOver)
    }

    @Test mutating func lostParticipantLeavesAfterTwentySecondsWithTheOriginalReason() throws {
        let track = try world.publish(ann)
        // A muted participant is not reported as silent.
        world.send(ann, .mute(track.sid, muted: true))
        world.receive(.connectionLost(ann, .connectionTimeout))
        world.discardEvents()
        world.pass(.milliseconds(19_999))
        #expect(world.takeEvents(bob).isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.takeEvents(bob) == [.trackUnpublished(track.sid, of: "ann"), .participantLeft("ann", reason: .connectionTimeout)])
        #expect(world.closed[ann] == .resumeWindowOver, "its slot must be free")
    }

    @Test mutating func agentThatDoesNotResumeIsReportedAsLost() {
        let helper = world.join("helper", kind: .agent)
        world.discardEvents()
        lose(helper)
        world.pass(.seconds(20))
        #expect(world.takeEvents(ann).words == ["participantUpdated", "participantLeft", "agentLost"])
    }

    @Test mutating func hiddenParticipantCausesNoEvents() {
        let spy = world.join("spy", permission: Permission(hidden: true))
        world.discardEvents()
        lose(spy)
        _ = comeBack("spy")
        #expect(world.takeEvents(ann).isEmpty && world.takeEvents(bob).isEmpty)
    }

    @Test(arguments: [true, false]) mutating func lostParticipantCanBeRemoved(byRoomsEnd: Bool) {
        lose(ann)
        world.receive(.administered(byRoomsEnd ? .delete : .remove("ann")))
        #expect(world.closed[ann] == (byRoomsEnd ? .roomClosed : .removed), "its slot must be free")
    }

    @Test mutating func secondLossHasNoEffect() {
        lose(ann)
        world.pass(.seconds(10))
        lose(ann)
        #expect(world.effects.isEmpty)
        world.pass(.seconds(10))
        #expect(world.closed[ann] != nil)
    }

    @Test mutating func withoutResumeWindowALossIsADeparture() {
        world = RoomWorld(RoomSettings(resumeWindow: .zero))
        let (cid, dan) = (world.join("cid"), world.join("dan"))
        world.discardEvents()
        lose(cid)
        #expect(world.takeEvents(dan) == [.participantLeft("cid", reason: .signalClose)])
        #expect(world.closed[cid] == .resumeWindowOver)
    }

    @Test mutating func drainRemovesLostParticipantsAtOnce() {
        lose(ann)
        world.discardEvents()
        world.receive(.draining(deadline: 1_700_000_600))
        #expect(world.takeEvents(bob).words == ["serverDraining", "participantLeft"])
        lose(bob)
        #expect(world.closed[bob] == .resumeWindowOver, "nor a later loss")
    }

    // MARK: Resumed

    @Test mutating func resumedParticipantKeepsItsSID() throws {
        let track = try world.publish(ann)
        try #require(world.publish(bob).alias == TrackAlias(2))
        let sid = world.room.participants[0].sid
        lose(ann)
        world.discardEvents()
        let back = comeBack()
        #expect(
            world.trace == [
                "patch unsubscribe ann to 2", "patch move 1 from ann to ann subscribed by bob", "hand over ann to ann", "hello > ann",
                "patch subscribe ann to 2", "participantUpdated > bob",
            ])
        let hello = try #require(greeting(world.takeEvents(back)))
        #expect(hello.resumed == true)
        #expect(hello.participant.sid == sid)
        #expect(hello.participant.tracks == [track])
        #expect(hello.resumeToken == "resume-ann-1")
        #expect(world.receives(bob, track))
        guard case .participantUpdated(_, .connected)? = world.takeEvents(bob).first else { throw Unexpected(what: "connected") }
        #expect(world.room.participants.map(\.identity) == ["ann", "bob"], "in its old position")
    }

    @Test mutating func resumedPublisherContinuesItsTracks() throws {
        let track = try world.publish(ann)
        lose(ann)
        let back = comeBack()
        #expect(world.send(back, .mute(track.sid, muted: true)) == .reply(.done))
        #expect(world.send(back, .unpublish(track.sid)) == .reply(.done))
        #expect(world.send(ann, .ping(0)) == nil, "inputs of the old socket are ignored")
    }

    @Test mutating func resumeKeepsMuteHoldAndSubscriptions() throws {
        let (own, other) = (try world.publish(ann), try world.publish(bob))
        world.send(ann, .mute(own.sid, muted: true))
        world.send(ann, .subscribe(other.sid, subscribed: false))
        lose(ann)
        var back = comeBack()
        #expect(world.gates[own.alias] == .muted)
        #expect(!world.receives(back, other))
        world.send(back, .hold(true))
        lose(back)
        back = comeBack(showing: "resume-ann-1")
        #expect(world.gates[own.alias] == .held)
        world.send(back, .subscribe(other.sid, subscribed: true))
        world.send(back, .hold(false))
        #expect(world.receives(back, other))
    }

    @Test mutating func resumeReplacesASocketThatIsStillOpen() throws {
        let back = comeBack()
        #expect(greeting(world.takeEvents(back))?.resumed == true)
        #expect(world.takeEvents(bob).isEmpty, "nobody else is notified")
        #expect(world.trace == ["hand over ann to ann", "hello > ann"])
        lose(ann)
        #expect(world.effects.isEmpty, "the end of the old socket is ignored")
    }

    @Test mutating func eachLossStartsANewResumeWindow() {
        lose(ann)
        world.pass(.seconds(15))
        let back = comeBack()
        world.pass(.seconds(15))
        #expect(world.closed.isEmpty)
        lose(back)
        world.pass(.seconds(19))
        #expect(world.closed.isEmpty)
        world.pass(.seconds(1))
        #expect(world.closed[back] == .resumeWindowOver)
    }

    @Test mutating func resumeEndsATalkspurtExactlyOnce() throws {
        let track = try world.publish(ann)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        lose(ann)
        world.discardEvents()
        let back = comeBack()
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 48_000)))
        #expect(world.takeEvents(bob).words == ["talkStopped", "participantUpdated", "talkStarted"])
        #expect(world.takeEvents(back).words == ["hello", "talkStopped", "talkStarted"])
    }

    @Test mutating func eachResumeBringsAnotherToken() {
        var tokens: [String] = []
        for _ in 0..<3 {
            let back = comeBack(showing: tokens.last)
            world.receive(.resumeConfirmed(back))
            tokens += greeting(world.takeEvents(back)).map { [$0.resumeToken] } ?? []
        }
        #expect(tokens == ["resume-ann-1", "resume-ann-2", "resume-ann-3"])
    }

    // MARK: Rejected

    @Test mutating func unknownResumeTokenIsAFreshJoin() throws {
        lose(ann)
        world.discardEvents()
        let newcomer = comeBack(showing: "resume-bob")
        #expect(greeting(world.takeEvents(newcomer))?.resumed == false)
        #expect(world.closed[ann] == .duplicateIdentity)
        #expect(world.takeEvents(bob).words == ["participantLeft", "participantJoined"])
    }

    @Test mutating func formerResumeTokenIsValidUntilTheResumeIsConfirmed() {
        lose(ann)
        let back = comeBack()
        lose(back)
        let again = comeBack()
        #expect(greeting(world.takeEvents(again))?.resumed == true)
        let late = comeBack(showing: "resume-ann-1")
        #expect(greeting(world.takeEvents(late))?.resumed == false, "that one was never delivered")
    }

    @Test mutating func confirmedResumeInvalidatesTheFormerToken() {
        lose(ann)
        let back = comeBack()
        world.receive(.resumeConfirmed(back))
        let second = comeBack()
        #expect(greeting(world.takeEvents(second))?.resumed == false)
        #expect(world.closed[back] == .duplicateIdentity)
    }

    @Test(arguments: 1...9) mutating func tokenIsUnknownBeforeItIsAnnounced(number: Int) {
        lose(ann)
        let back = comeBack(showing: "resume-ann-\(number)")
        #expect(greeting(world.takeEvents(back))?.resumed == false)
    }

    @Test mutating func resumeTokenOfAnotherIdentityIsRejected() {
        lose(ann)
        let eve = comeBack("eve", showing: "resume-ann")
        let hello = greeting(world.takeEvents(eve))
        #expect(hello?.resumed == false)
        #expect(hello?.participant.identity == "eve")
        #expect(world.room.handle(of: "ann") == ann, "it may still resume")
    }

    @Test mutating func resumeRequiresTheSameSession() {
        lose(ann)
        let back = world.join("ann", session: "another", resuming: "resume-ann")
        #expect(greeting(world.takeEvents(back))?.resumed == false)
    }

    @Test mutating func resumeRequiresTheSameKind() {
        lose(ann)
        let back = world.join("ann", kind: .agent, resuming: "resume-ann")
        #expect(greeting(world.takeEvents(back))?.resumed == false)
    }

    @Test mutating func lateResumeIsAFreshJoin() {
        lose(ann)
        world.pass(.seconds(20))
        let late = comeBack()
        #expect(greeting(world.takeEvents(late))?.resumed == false)
    }

    @Test mutating func helloOmitsResumedWithoutAResumeToken() {
        let cid = world.join("cid")
        #expect(greeting(world.takeEvents(cid)).map { $0.resumed == nil } == true)
    }

    // MARK: Pending requests

    @Test mutating func requestsOfTheLostSocketGetNoReply() throws {
        world.receive(.request(.callProcedure(ProcedureCall(to: "bob", method: "m", timeoutMs: 5_000)), id: 7, from: ann))
        lose(ann)
        let back = comeBack()
        world.pass(.seconds(10))
        #expect(world.answers[ann] == nil)
        #expect(world.answers[back] == nil, "request 7 may mean something else by now")
    }

    @Test mutating func resumedCalleeCanAnswerPendingProcedureCalls() throws {
        world.receive(.request(.callProcedure(ProcedureCall(to: "ann", method: "m", timeoutMs: 9_000)), id: 7, from: bob))
        guard case .procedureCalled(let id, _, _, _, _)? = world.takeEvents(ann).last else { throw Unexpected(what: "a call") }
        lose(ann)
        let back = comeBack()
        world.send(back, .answerProcedure(ProcedureAnswer(requestId: id, payload: "yes")))
        #expect(world.answers[bob]?[7] == [.reply(.procedureAnswered(payload: "yes"))])
    }
}
