import Engine
import Testing
import Wire

/// Somebody loses its socket, and comes back or does not.
struct ResumingTests {
    private var world = RoomWorld()
    private let ann, bob: ParticipantHandle

    init() {
        ann = world.join("ann")
        bob = world.join("bob")
        world.forgetNews()
    }

    private mutating func lose(_ handle: ParticipantHandle) { world.happens(.connectionLost(handle, .signalClose)) }

    private mutating func comeBack(_ name: String = "ann", showing token: String? = nil, newToken: String = "next") -> ParticipantHandle {
        world.join(name, token: newToken, resuming: token ?? "resume-\(name)")
    }

    private func greeting(_ events: [Event]) -> Hello? {
        if case .hello(let hello) = events.first { hello } else { nil }
    }

    // MARK: Away

    @Test mutating func theOthersAreToldThatItIsReconnecting() throws {
        lose(ann)
        #expect(world.trace == ["participantUpdated > bob"])
        guard case .participantUpdated(let info, .reconnecting)? = world.news(bob).first else { throw Unexpected(what: "reconnecting") }
        #expect(info.identity == "ann")
    }

    @Test mutating func itsTracksStayAndItHearsOfAllThatHappens() throws {
        let track = try world.publish(ann)
        lose(ann)
        #expect(world.hears(bob, track))
        world.forgetNews()
        world.ask(bob, .sendText(TextMessage(text: "still there?")))
        #expect(world.news(ann).words == ["text"])
    }

    @Test mutating func whoComesMeanwhileLearnsThatItIsAway() {
        lose(ann)
        let cid = world.join("cid")
        #expect(world.news(cid).words == ["hello", "participantUpdated"])
    }

    @Test mutating func whatIsToldOfItSaysThatItIsAwayStill() {
        lose(ann)
        world.forgetNews()
        world.happens(.administered(.updatePermission("ann", Permission(canPublish: false))))
        guard case .participantUpdated(_, .reconnecting)? = world.news(bob).first else {
            Issue.record("it is not connected again by being changed")
            return
        }
    }

    @Test mutating func itKeepsTheRoomAlive() {
        world.happens(.left(bob, .clientInitiated))
        lose(ann)
        world.pass(.seconds(19))
        #expect(!world.room.isEmpty)
        world.pass(.seconds(20))
        #expect(!world.room.isOver, "the departure timeout begins when it has left")
        world.pass(.seconds(2))
        #expect(world.room.isOver)
    }

    @Test mutating func afterTwentySecondsItHasLeftForTheReasonOfTheLoss() throws {
        let track = try world.publish(ann)
        // What is muted is not told to be silent.
        world.ask(ann, .mute(track.sid, muted: true))
        world.happens(.connectionLost(ann, .connectionTimeout))
        world.forgetNews()
        world.pass(.milliseconds(19_999))
        #expect(world.news(bob).isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.news(bob) == [.trackUnpublished(track.sid, of: "ann"), .participantLeft("ann", reason: .connectionTimeout)])
        #expect(world.closed[ann] == .resumeWindowOver, "its seat is free")
    }

    @Test mutating func anAgentThatDoesNotComeBackIsLost() {
        let helper = world.join("helper", kind: .agent)
        world.forgetNews()
        lose(helper)
        world.pass(.seconds(20))
        #expect(world.news(ann).words == ["participantUpdated", "participantLeft", "agentLost"])
    }

    @Test mutating func nobodyIsToldOfAHiddenOne() {
        let spy = world.join("spy", permission: Permission(hidden: true))
        world.forgetNews()
        lose(spy)
        _ = comeBack("spy")
        #expect(world.news(ann).isEmpty && world.news(bob).isEmpty)
    }

    @Test(arguments: [true, false]) mutating func whoIsAwayMayBeRemoved(byRoomsEnd: Bool) {
        lose(ann)
        world.happens(.administered(byRoomsEnd ? .delete : .remove("ann")))
        #expect(world.closed[ann] == (byRoomsEnd ? .roomClosed : .removed), "its seat is free")
    }

    @Test mutating func aSecondLossChangesNothing() {
        lose(ann)
        world.pass(.seconds(10))
        lose(ann)
        #expect(world.effects.isEmpty)
        world.pass(.seconds(10))
        #expect(world.closed[ann] != nil)
    }

    @Test mutating func aRoomWithoutAWindowGivesUpAtOnce() {
        world = RoomWorld(RoomSettings(resumeWindow: .zero))
        let (cid, dan) = (world.join("cid"), world.join("dan"))
        world.forgetNews()
        lose(cid)
        #expect(world.news(dan) == [.participantLeft("cid", reason: .signalClose)])
        #expect(world.closed[cid] == .resumeWindowOver)
    }

    @Test mutating func aDrainWaitsForNobodyWhoIsAway() {
        lose(ann)
        world.forgetNews()
        world.happens(.draining(deadline: 1_700_000_600))
        #expect(world.news(bob).words == ["serverDraining", "participantLeft"])
        lose(bob)
        #expect(world.closed[bob] == .resumeWindowOver, "nor for who loses its socket later")
    }

    // MARK: Back

    @Test mutating func itIsTheSameOneAsBefore() throws {
        let track = try world.publish(ann)
        try #require(world.publish(bob).alias == TrackAlias(2))
        let sid = world.room.participants[0].sid
        lose(ann)
        world.forgetNews()
        let back = comeBack()
        #expect(
            world.trace == [
                "patch stop ann to 2", "patch move 1 from ann to ann heard by bob", "hand over ann to ann", "hello > ann",
                "patch listen ann to 2", "participantUpdated > bob",
            ])
        let hello = try #require(greeting(world.news(back)))
        #expect(hello.resumed == true)
        #expect(hello.participant.sid == sid)
        #expect(hello.participant.tracks == [track])
        #expect(hello.resumeToken == "next")
        #expect(world.hears(bob, track))
        guard case .participantUpdated(_, .connected)? = world.news(bob).first else { throw Unexpected(what: "connected") }
        #expect(world.room.participants.map(\.identity) == ["ann", "bob"], "in its old place")
    }

    @Test mutating func itMayGoOnWithItsTracks() throws {
        let track = try world.publish(ann)
        lose(ann)
        let back = comeBack()
        #expect(world.ask(back, .mute(track.sid, muted: true)) == .reply(.done))
        #expect(world.ask(back, .unpublish(track.sid)) == .reply(.done))
        #expect(world.ask(ann, .ping(0)) == nil, "the old socket has nothing to say any more")
    }

    @Test mutating func whatWasMutedHeldOrNotSubscribedIsSoStill() throws {
        let (own, other) = (try world.publish(ann), try world.publish(bob))
        world.ask(ann, .mute(own.sid, muted: true))
        world.ask(ann, .subscribe(other.sid, subscribed: false))
        lose(ann)
        var back = comeBack()
        #expect(world.gates[own.alias] == .muted)
        #expect(!world.hears(back, other))
        world.ask(back, .hold(true))
        lose(back)
        back = comeBack(showing: "next", newToken: "last")
        #expect(world.gates[own.alias] == .held)
        world.ask(back, .subscribe(other.sid, subscribed: true))
        world.ask(back, .hold(false))
        #expect(world.hears(back, other))
    }

    @Test mutating func theOldSocketMaySeemAlive() throws {
        let back = comeBack()
        #expect(greeting(world.news(back))?.resumed == true)
        #expect(world.news(bob).isEmpty, "nobody noticed anything")
        #expect(world.trace == ["hand over ann to ann", "hello > ann"])
        lose(ann)
        #expect(world.effects.isEmpty, "the end of the old socket is of no interest")
    }

    @Test mutating func theWindowBeginsAnewWithEachLoss() {
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

    @Test mutating func aTalkspurtUnderWayEndsOnceAndMayBeginAgain() throws {
        let track = try world.publish(ann)
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        lose(ann)
        world.forgetNews()
        let back = comeBack()
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 48_000)))
        #expect(world.news(bob).words == ["talkStopped", "participantUpdated", "talkStarted"])
        #expect(world.news(back).words == ["hello", "talkStopped", "talkStarted"])
    }

    // MARK: Refused

    @Test mutating func anUnknownTokenIsAFreshJoinAndTheNewestWins() throws {
        lose(ann)
        world.forgetNews()
        let newcomer = comeBack(showing: "resume-bob")
        #expect(greeting(world.news(newcomer))?.resumed == false)
        #expect(world.closed[ann] == .duplicateIdentity)
        #expect(world.news(bob).words == ["participantLeft", "participantJoined"])
    }

    @Test mutating func aTokenIsGoodUntilTheNextOneHasArrived() {
        lose(ann)
        let back = comeBack()
        lose(back)
        let again = comeBack(newToken: "last")
        #expect(greeting(world.news(again))?.resumed == true)
        let late = comeBack(showing: "next")
        #expect(greeting(world.news(late))?.resumed == false, "that one never arrived")
    }

    @Test mutating func aTokenIsGoodOnce() {
        lose(ann)
        let back = comeBack()
        world.happens(.resumeConfirmed(back))
        let second = comeBack()
        #expect(greeting(world.news(second))?.resumed == false)
        #expect(world.closed[back] == .duplicateIdentity)
    }

    @Test mutating func anothersTokenTakesNobodysPlace() {
        lose(ann)
        let eve = comeBack("eve", showing: "resume-ann")
        let hello = greeting(world.news(eve))
        #expect(hello?.resumed == false)
        #expect(hello?.participant.identity == "eve")
        #expect(world.room.handle(of: "ann") == ann, "who is still awaited")
    }

    @Test mutating func anotherSessionIsNotThisOne() {
        lose(ann)
        let back = world.join("ann", session: "another", resuming: "resume-ann")
        #expect(greeting(world.news(back))?.resumed == false)
    }

    @Test mutating func anotherKindIsNotThisOne() {
        lose(ann)
        let back = world.join("ann", kind: .agent, resuming: "resume-ann")
        #expect(greeting(world.news(back))?.resumed == false)
    }

    @Test mutating func whoComesTooLateJoinsAfresh() {
        lose(ann)
        world.pass(.seconds(20))
        let late = comeBack()
        #expect(greeting(world.news(late))?.resumed == false)
    }

    @Test mutating func whoDoesNotAskIsNotTold() {
        let cid = world.join("cid")
        #expect(greeting(world.news(cid)).map { $0.resumed == nil } == true)
    }

    // MARK: PendingProcedureCalls

    @Test mutating func whatWasAskedOnTheLostSocketIsAnsweredToNobody() throws {
        world.happens(.request(.callProcedure(ProcedureCall(to: "bob", method: "m", timeoutMs: 5_000)), id: 7, from: ann))
        lose(ann)
        let back = comeBack()
        world.pass(.seconds(10))
        #expect(world.answers[ann] == nil)
        #expect(world.answers[back] == nil, "number 7 may be another question by now")
    }

    @Test mutating func whatItWasAskedItMayStillAnswer() throws {
        world.happens(.request(.callProcedure(ProcedureCall(to: "ann", method: "m", timeoutMs: 9_000)), id: 7, from: bob))
        guard case .procedureCalled(let id, _, _, _, _)? = world.news(ann).last else { throw Unexpected(what: "a call") }
        lose(ann)
        let back = comeBack()
        world.ask(back, .answerProcedure(ProcedureAnswer(requestId: id, payload: "yes")))
        #expect(world.answers[bob]?[7] == [.reply(.procedureAnswered(payload: "yes"))])
    }
}
