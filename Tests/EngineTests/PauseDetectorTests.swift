import Testing
import Wire

@testable import Engine

/// Pauses of the process, with simulated time.
struct PauseDetectorTests {
    private let start = Instant(nanoseconds: 1_000_000_000_000)

    @Test func aTimerThatIsLateBySecondsIsAPause() {
        var pauses = PauseDetector()
        #expect(pauses.timerFired(at: start + .milliseconds(1_999), dueAt: start) == nil)
        #expect(pauses.timerFired(at: start + .seconds(20), dueAt: start) == .seconds(20))
        #expect(pauses.timerFired(at: start, dueAt: start + .milliseconds(1)) == nil, "a timer may fire early by the clock's resolution")
    }

    @Test func silenceCountsFromTheEndOfThePause() {
        var pauses = PauseDetector()
        let end = start + .seconds(20)
        #expect(pauses.silence(since: start, at: end) == .seconds(20))
        _ = pauses.timerFired(at: end, dueAt: start)
        #expect(pauses.silence(since: start, at: end) == .zero)
        #expect(pauses.silence(since: start, at: end + .seconds(15)) == .seconds(15))
        #expect(pauses.silence(since: end + .seconds(4), at: end + .seconds(15)) == .seconds(11))
    }

    @Test func thereIsASpanForProbesAfterAPause() {
        var pauses = PauseDetector()
        #expect(!pauses.hasEnded(within: .seconds(1), at: start))
        let end = start + .seconds(2)
        _ = pauses.timerFired(at: end, dueAt: start)
        #expect(pauses.hasEnded(within: .seconds(1), at: end + .milliseconds(999)))
        #expect(!pauses.hasEnded(within: .seconds(1), at: end + .seconds(1)))
    }
}

/// What a pause of the gateway does to a room's windows.
struct PausedRoomTests {
    private var world = RoomWorld()

    /// The clock goes on while the room is not driven, as for a stopped process.
    private mutating func pause(_ span: Duration) {
        world.now = world.now + span
        world.receive(.paused(span))
    }

    @Test mutating func aPauseDoesNotCountTowardsTheWindowToResume() {
        let ann = world.join("ann")
        world.join("bob")
        world.receive(.connectionLost(ann, .signalClose))
        world.pass(.seconds(15))
        pause(.seconds(30))
        world.pass(.milliseconds(4_999))
        #expect(world.room.participantCount == 2)
        world.pass(.milliseconds(1))
        #expect(world.room.participantCount == 1)
    }

    @Test mutating func aWindowThatBeganAfterThePauseKeepsItsLength() {
        let ann = world.join("ann")
        world.join("bob")
        world.now = world.now + .seconds(30)
        world.receive(.connectionLost(ann, .signalClose))
        world.receive(.paused(.seconds(30)))
        world.pass(.milliseconds(19_999))
        #expect(world.room.participantCount == 2)
        world.pass(.milliseconds(1))
        #expect(world.room.participantCount == 1)
    }

    @Test mutating func anEmptyRoomWaitsForItsUsersAfterAPause() {
        let ann = world.join("ann")
        world.receive(.left(ann, .clientInitiated))
        world.pass(.seconds(5))
        pause(.seconds(60))
        world.pass(.milliseconds(14_999))
        #expect(!world.room.isOver)
        world.pass(.milliseconds(1))
        #expect(world.room.isOver)
    }

    @Test mutating func aPauseIsNoSilence() throws {
        let ann = world.join("ann")
        _ = try world.publish(ann)
        world.pass(.seconds(4))
        world.discardEvents()
        pause(.seconds(30))
        world.pass(.milliseconds(5_999))
        #expect(world.takeEvents(ann).words == [])
        world.pass(.milliseconds(1))
        #expect(world.takeEvents(ann).words == ["silence"])
    }

    @Test mutating func anAnswerThatArrivedInAPauseIsInTime() throws {
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.call(ann, ProcedureCall(to: "bob", method: "greet", timeoutMs: 5_000))
        let id = try world.lastCall(to: bob)
        world.pass(.seconds(4))
        pause(.seconds(30))
        world.pass(.milliseconds(500))
        world.send(bob, .answerProcedure(ProcedureAnswer(requestId: id, payload: "hello")))
        #expect(world.callersAnswers(ann) == [.reply(.procedureAnswered(payload: "hello"))])
    }
}
