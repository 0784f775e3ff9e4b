import Testing
import Wire

@testable import Engine

/// Procedure calls without a caller in the room.
struct AdministrativeProcedureTests {
    private static let call = ProcedureCall(to: "bob", method: "greet", payload: "hi", timeoutMs: 5_000)

    @Test func calleeSeesACallerWithoutIdentityAndAnswers() throws {
        var world = RoomWorld()
        world.join("ann")
        let bob = world.join("bob")
        world.receive(.administered(.callProcedure(Self.call, number: 7)))
        #expect(world.trace == ["procedureCalled > bob"])
        let id = try world.lastCall(to: bob)
        let event = Event.procedureCalled(requestID: id, from: "", method: "greet", payload: "hi", timeoutMilliseconds: 5_000)
        #expect(world.takeEvents(bob).last == event)
        #expect(world.send(bob, .answerProcedure(ProcedureAnswer(requestId: id, payload: "hello"))) == .reply(.done))
        #expect(world.trace == ["answer 7", "reply > bob"])
        #expect(world.outcomes == [7: [.success("hello")]])
    }

    @Test func calleeErrorIsTheOutcome() throws {
        var world = RoomWorld()
        let bob = world.join("bob")
        world.receive(.administered(.callProcedure(Self.call, number: 1)))
        let error = ProcedureError(code: 404, message: "no such greeting")
        world.send(bob, .answerProcedure(ProcedureAnswer(requestId: try world.lastCall(to: bob), error: error)))
        #expect(world.outcomes == [1: [.failure(RequestError(error))]])
    }

    @Test func callThatCannotBeginFailsAtOnce() {
        var world = RoomWorld()
        world.join("bob")
        let long = String(repeating: "x", count: 15_361)
        let calls = [
            (ProcedureCall(to: "cid", method: "greet"), RequestError(.recipientNotFound).code),
            (ProcedureCall(to: "bob", method: "greet", payload: long), RequestError(.requestTooLarge).code),
            (ProcedureCall(to: "bob", method: ""), .invalidArgument),
            (ProcedureCall(to: "bob", method: "greet", timeoutMs: 60_001), .invalidArgument),
        ]
        for (number, (call, code)) in calls.enumerated() {
            world.receive(.administered(.callProcedure(call, number: UInt64(number))))
            #expect(world.trace == ["error \(code) \(number)"])
        }
    }

    @Test func oversizedAnswerFailsForBoth() throws {
        var world = RoomWorld()
        let bob = world.join("bob")
        world.receive(.administered(.callProcedure(Self.call, number: 1)))
        let answer = ProcedureAnswer(requestId: try world.lastCall(to: bob), payload: String(repeating: "x", count: 15_361))
        #expect(world.send(bob, .answerProcedure(answer))?.code == .limitExceeded)
        #expect(world.outcomes == [1: [.failure(RequestError(.responseTooLarge))]])
    }

    @Test func callTimesOut() throws {
        var world = RoomWorld()
        let bob = world.join("bob")
        world.receive(.administered(.callProcedure(Self.call, number: 1)))
        world.pass(.milliseconds(4_999))
        #expect(world.outcomes.isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.outcomes == [1: [.failure(RequestError(.responseTimeout))]])
        let late = ProcedureAnswer(requestId: try world.lastCall(to: bob), payload: "hello")
        #expect(world.send(bob, .answerProcedure(late))?.code == .notFound)
    }

    @Test func departedCalleeFailsTheCall() {
        var world = RoomWorld()
        let bob = world.join("bob")
        world.receive(.administered(.callProcedure(Self.call, number: 1)))
        world.receive(.left(bob, .signalClose))
        #expect(world.outcomes == [1: [.failure(RequestError(.recipientDisconnected))]])
    }

    @Test func resumedCalleeAnswers() throws {
        var world = RoomWorld()
        let bob = world.join("bob")
        world.receive(.administered(.callProcedure(Self.call, number: 1)))
        let id = try world.lastCall(to: bob)
        world.receive(.connectionLost(bob, .signalClose))
        let again = world.join("bob", resuming: "resume-bob")
        world.send(again, .answerProcedure(ProcedureAnswer(requestId: id, payload: "hello")))
        #expect(world.outcomes == [1: [.success("hello")]])
    }

    @Test func departuresOfOthersAreIrrelevant() {
        var world = RoomWorld()
        world.join("bob")
        let ann = world.join("ann")
        world.receive(.administered(.callProcedure(Self.call, number: 1)))
        world.receive(.left(ann, .signalClose))
        #expect(world.outcomes.isEmpty)
    }

    @Test func endOfTheRoomFailsItsCalls() {
        var world = RoomWorld()
        world.join("bob")
        for number in 1...2 { world.receive(.administered(.callProcedure(Self.call, number: UInt64(number)))) }
        world.receive(.administered(.delete))
        #expect(world.trace.suffix(4) == ["close roomClosed bob", "error 1503 1", "error 1503 2", "closed"])
        world.receive(.administered(.callProcedure(Self.call, number: 3)))
        #expect(world.trace == ["error 1401 3"])
    }

    @Test func pendingCallsAreLimitedForAllAdministratorsTogether() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        for number in 1...100 { world.receive(.administered(.callProcedure(Self.call, number: UInt64(number)))) }
        #expect(world.outcomes.isEmpty)
        world.receive(.administered(.callProcedure(Self.call, number: 101)))
        #expect(world.trace == ["error limit_exceeded 101"])
        // Participants have limits of their own.
        #expect(world.send(ann, .callProcedure(Self.call)) == nil)
        world.pass(.seconds(5))
        world.receive(.administered(.callProcedure(Self.call, number: 102)))
        #expect(world.outcomes.count == 101 && world.outcomes.values.allSatisfy { $0.count == 1 })
    }
}
