import Testing
import Wire

@testable import Engine

struct ProcedureTests {
    @Test func procedureCallIsForwardedAndAnswered() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.join("cid")
        world.call(ann, ProcedureCall(to: "bob", method: "greet", payload: "hi", timeoutMs: 5_000))
        #expect(world.trace == ["procedureCalled > bob"])
        let id = try world.lastCall(to: bob)
        #expect(id.hasPrefix("RPC_"))
        let event = Event.procedureCalled(requestID: id, from: "ann", method: "greet", payload: "hi", timeoutMilliseconds: 5_000)
        #expect(world.takeEvents(bob).last == event)
        #expect(world.send(bob, .answerProcedure(ProcedureAnswer(requestId: id, payload: "hello"))) == .reply(.done))
        #expect(world.trace == ["reply > ann", "reply > bob"])
        #expect(world.callersAnswers(ann) == [.reply(.procedureAnswered(payload: "hello"))])
    }

    @Test func calleeErrorReachesTheCallerUnchanged() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.call(ann, ProcedureCall(to: "bob", method: "greet"))
        let error = ProcedureError(code: 404, message: "no such greeting")
        world.send(bob, .answerProcedure(ProcedureAnswer(requestId: try world.lastCall(to: bob), error: error)))
        #expect(world.callersAnswers(ann) == [.rejected(RequestError(error))])
    }

    @Test func longErrorMessageIsTruncatedAtACharacterBoundary() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.call(ann, ProcedureCall(to: "bob", method: "greet"))
        let error = ProcedureError(code: 1_500, message: "x" + String(repeating: "ä", count: 200))
        world.send(bob, .answerProcedure(ProcedureAnswer(requestId: try world.lastCall(to: bob), error: error)))
        let cut = ProcedureError(code: 1_500, message: "x" + String(repeating: "ä", count: 127))
        #expect(world.callersAnswers(ann) == [.rejected(RequestError(cut))])
    }

    @Test func procedureCallTimesOut() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        world.call(ann, ProcedureCall(to: "bob", method: "greet", timeoutMs: 5_000))
        world.pass(.milliseconds(4_999))
        #expect(world.callersAnswers(ann).isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.callersAnswers(ann) == [.rejected(RequestError(.responseTimeout))])
        #expect(world.callersAnswers(ann).first?.code?.rpc == 1_502)
    }

    @Test func answerAfterTheTimeoutIsRejected() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.call(ann, ProcedureCall(to: "bob", method: "greet", timeoutMs: 1_000))
        world.pass(.seconds(1))
        let late = ProcedureAnswer(requestId: try world.lastCall(to: bob), payload: "hello")
        #expect(world.send(bob, .answerProcedure(late))?.code == .notFound)
        #expect(world.trace == ["reject not_found > bob"])
        #expect(world.callersAnswers(ann).count == 1)
    }

    @Test func onlyTheCalleeAnswersAndOnlyOnce() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let cid = world.join("cid")
        world.call(ann, ProcedureCall(to: "bob", method: "greet"))
        let answer = ProcedureAnswer(requestId: try world.lastCall(to: bob), payload: "hello")
        #expect(world.send(cid, .answerProcedure(answer))?.code == .notFound)
        #expect(world.send(bob, .answerProcedure(answer)) == .reply(.done))
        #expect(world.send(bob, .answerProcedure(answer))?.code == .notFound)
        #expect(world.callersAnswers(ann).count == 1)
    }

    @Test func answerNeedsEitherPayloadOrErrorAndCanBeRetried() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.call(ann, ProcedureCall(to: "bob", method: "greet"))
        var both = ProcedureAnswer(requestId: try world.lastCall(to: bob), payload: "hello")
        both.error = .applicationError
        #expect(world.send(bob, .answerProcedure(both))?.code == .invalidArgument)
        both.payload = nil
        #expect(world.send(bob, .answerProcedure(both)) == .reply(.done))
        #expect(world.callersAnswers(ann) == [.rejected(RequestError(.applicationError))])
    }

    @Test func departedCalleeFailsTheCall() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.call(ann, ProcedureCall(to: "bob", method: "greet"))
        world.receive(.left(bob, .signalClose))
        #expect(world.trace == ["participantLeft > ann", "reject 1503 > ann"])
        #expect(world.callersAnswers(ann) == [.rejected(RequestError(.recipientDisconnected))])
    }

    @Test func answerToADepartedCallerIsRejected() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.call(ann, ProcedureCall(to: "bob", method: "greet"))
        let answer = ProcedureAnswer(requestId: try world.lastCall(to: bob), payload: "hello")
        world.receive(.left(ann, .signalClose))
        #expect(world.trace == ["participantLeft > bob"])
        #expect(world.send(bob, .answerProcedure(answer))?.code == .notFound)
        world.pass(.seconds(11))
        #expect(world.callersAnswers(ann).isEmpty)
    }

    @Test func callToAnUnknownParticipantIsRejected() {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.send(ann, .callProcedure(ProcedureCall(to: "bob", method: "greet")))?.code?.rpc == 1_401)
    }

    @Test func callPayloadIsLimited() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        let largest = String(repeating: "x", count: 15_360)
        #expect(world.send(ann, .callProcedure(ProcedureCall(to: "bob", method: "greet", payload: largest))) == nil)
        #expect(world.trace == ["procedureCalled > bob"])
        #expect(world.send(ann, .callProcedure(ProcedureCall(to: "bob", method: "greet", payload: largest + "x")))?.code?.rpc == 1_402)
    }

    @Test func oversizedAnswerFailsForCallerAndCallee() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.call(ann, ProcedureCall(to: "bob", method: "greet"))
        let answer = ProcedureAnswer(requestId: try world.lastCall(to: bob), payload: String(repeating: "x", count: 15_361))
        #expect(world.send(bob, .answerProcedure(answer))?.code == .limitExceeded)
        #expect(world.callersAnswers(ann) == [.rejected(RequestError(.responseTooLarge))])
        #expect(world.callersAnswers(ann).first?.code?.rpc == 1_504)
    }

    @Test func hundredAndFirstPendingCallIsRejectedAsRetryable() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let call = Request.callProcedure(ProcedureCall(to: "bob", method: "greet"))
        for _ in 0..<100 { world.send(ann, call) }
        guard case .rejected(let error) = world.send(ann, call) else { throw Unexpected(what: "101 calls wait") }
        #expect(error.code == .limitExceeded && error.retryable)
        // The limit is per caller.
        let cid = world.join("cid")
        #expect(world.send(cid, call) == nil)
        world.send(bob, .answerProcedure(ProcedureAnswer(requestId: try world.lastCall(to: bob), payload: "")))
        #expect(world.send(ann, call)?.code == .limitExceeded)
        world.pass(.seconds(10))
        #expect(world.send(ann, call) == nil)
    }

    @Test(arguments: [
        ProcedureCall(to: "bob", method: ""), ProcedureCall(to: "bob", method: String(repeating: "m", count: 65)),
        ProcedureCall(to: "bob", method: "greet", timeoutMs: 0), ProcedureCall(to: "bob", method: "greet", timeoutMs: 60_001),
        ProcedureCall(to: "bob", method: "greet", timeoutMs: .max), ProcedureCall(to: "bob", method: "greet", timeoutMs: .min),
    ])
    func callNeedsANameAndAValidTimeout(call: ProcedureCall) {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        #expect(world.send(ann, .callProcedure(call))?.code == .invalidArgument)
        #expect(world.trace.count == 1)
    }

    @Test func callingRequiresTheGrantButAnsweringDoesNot() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let mute = world.join("mute", permission: Permission(canPublishData: false))
        #expect(world.send(mute, .callProcedure(ProcedureCall(to: "ann", method: "greet")))?.code == .notAllowed)
        world.call(ann, ProcedureCall(to: "mute", method: "greet"))
        let answer = ProcedureAnswer(requestId: try world.lastCall(to: mute), payload: "hello")
        #expect(world.send(mute, .answerProcedure(answer)) == .reply(.done))
    }

    @Test func callWithoutAnIDGetsNoAnswer() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        for _ in 0..<2 { world.receive(.request(.callProcedure(ProcedureCall(to: "bob", method: "greet")), id: nil, from: ann)) }
        world.send(bob, .answerProcedure(ProcedureAnswer(requestId: try world.lastCall(to: bob), payload: "hello")))
        #expect(world.trace == ["reply > bob"])
        world.pass(.seconds(11))
        #expect(world.effects.isEmpty)
    }

    @Test func shortestTimeoutExpiresFirst() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let cid = world.join("cid")
        world.join("bob")
        world.call(ann, ProcedureCall(to: "bob", method: "slow", timeoutMs: 60_000))
        world.call(cid, ProcedureCall(to: "bob", method: "fast", timeoutMs: 1))
        world.pass(.milliseconds(1))
        #expect(world.trace == ["reject 1502 > cid"])
        world.pass(.seconds(60))
        #expect(world.trace == ["reject 1502 > ann"])
    }
}

extension RoomWorld {
    private static let callersNumber: UInt64 = 1_000_000

    /// Calls with a given request id, for `callersAnswers`.
    mutating func call(_ caller: ParticipantHandle, _ call: ProcedureCall) {
        receive(.request(.callProcedure(call), id: Self.callersNumber, from: caller))
    }

    func callersAnswers(_ caller: ParticipantHandle) -> [Answer] {
        answers[caller]?[Self.callersNumber] ?? []
    }

    /// The id of the callee's latest call.
    func lastCall(to callee: ParticipantHandle) throws -> String {
        for case .procedureCalled(let id, _, _, _, _) in (received[callee] ?? []).reversed() { return id }
        throw Unexpected(what: "nobody called")
    }
}
