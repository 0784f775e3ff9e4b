import Foundation
import Testing
import Wire

@testable import PatchbayClient

/// Feeds inputs, and keeps the effects of the latest one.
private struct Call {
    var machine = AssistantCallMachine()
    var now = Instant(nanoseconds: 1_000_000_000)
    var effects: [AssistantCallMachine.Effect] = []

    var state: AssistantCallState { machine.state }

    static let request = AssistantCallRequest(.phone, assistant: "default")
    static let session = Sessions.Started(
        sessionId: "s1", livekitUrl: "wss://voice.example.org", livekitToken: "t", roomName: "session-s1", logged: true)

    mutating func feed(_ input: AssistantCallMachine.Input, after delay: Duration = .zero) {
        now = now + delay
        effects = machine.handle(input, at: now)
    }

    /// Advances to the next deadline.
    mutating func tick() {
        now = machine.deadline ?? now
        feed(.tick)
    }

    static func starting(_ request: AssistantCallRequest = request) -> Call {
        var call = Call()
        call.feed(.start(request, key: "k1"))
        return call
    }

    static func active(_ session: Sessions.Started = session, _ request: AssistantCallRequest = request) -> Call {
        var call = starting(request)
        call.feed(.started(session, attempt: 1))
        call.feed(.joined(attempt: 1))
        return call
    }
}

private let unreachable = AccountError.unreachable(ConnectError(.timeout, "no answer"))

private func refused(_ status: Int, _ code: GatewayRefusal.Code, retryAfter: Duration? = nil) -> AccountError {
    .refused(GatewayRefusal(status: status, code: code, message: "m", retryAfter: retryAfter))
}

private func turn(_ text: String) -> Sessions.NewTurn {
    Sessions.NewTurn(speaker: .user, text: text, timestamp: Date(timeIntervalSince1970: 0))
}

struct AssistantCallMachineTests {
    @Test func aCallStartsItsSessionJoinsItsRoomAndEndsBoth() {
        var call = Call.starting()
        #expect(call.state.phase == .starting && call.effects == [.startSession(Call.request, key: "k1", attempt: 1)])
        call.feed(.started(Call.session, attempt: 1))
        #expect(call.state.phase == .connecting && call.effects == [.join(Call.session, attempt: 1)])
        #expect(call.state.sessionID == "s1" && call.state.showsRecordingNotice)
        call.feed(.joined(attempt: 1), after: .milliseconds(300))
        #expect(call.state.phase == .active && call.state.activeSince == call.now && call.machine.deadline == nil)
        call.feed(.end)
        #expect(call.state.phase == .ended(.hungUp) && call.effects == [.leave(attempt: 1), .endSession(id: "s1")])
        #expect(!call.state.showsRecordingNotice && !call.machine.isSettled)
        call.feed(.sessionEnded(id: "s1"))
        #expect(call.machine.isSettled)
    }

    @Test func furtherStartsDuringACallAreIgnored() {
        var call = Call.active()
        call.feed(.start(AssistantCallRequest(.carplay), key: "k2"))
        #expect(call.effects == [] && call.state.context == .phone)
        call.feed(.end)
        call.feed(.start(AssistantCallRequest(.carplay), key: "k2"))
        #expect(call.effects == [.startSession(AssistantCallRequest(.carplay), key: "k2", attempt: 2)])
        #expect(call.state.sessionID == nil)
    }

    @Test func aSessionThatArrivesAfterTheUserHasHungUpIsEnded() {
        var call = Call.starting()
        call.feed(.end)
        #expect(call.state.phase == .ended(.hungUp) && call.effects == [])
        call.feed(.started(Call.session, attempt: 1))
        #expect(call.state.phase == .ended(.hungUp) && call.effects == [.endSession(id: "s1")])
    }

    @Test func aRoomThatIsJoinedAfterTheUserHasHungUpIsLeft() {
        var call = Call.starting()
        call.feed(.started(Call.session, attempt: 1))
        call.feed(.end)
        call.feed(.joined(attempt: 1))
        #expect(call.state.phase == .ended(.hungUp) && call.effects == [.leave(attempt: 1)])
    }

    @Test func anAnswerToAnEarlierCallDoesNotChangeTheCurrentOne() {
        var call = Call.active()
        call.feed(.end)
        call.feed(.start(Call.request, key: "k2"))
        call.feed(.room(.disconnected(.left), attempt: 1))
        call.feed(.startFailed(unreachable, attempt: 1))
        #expect(call.state.phase == .starting)
    }

    @Test func aFailedStartIsRepeatedWithTheSameKeyUntilTimeIsUp() {
        var call = Call.starting()
        var attempts = 1
        while call.state.isInCall {
            call.feed(.startFailed(unreachable, attempt: 1), after: .seconds(2))
            call.tick()
            if call.effects == [.startSession(Call.request, key: "k1", attempt: 1)] { attempts += 1 }
        }
        #expect(call.state.phase == .ended(.failed(.unreachable)) && attempts > 5)
        // The last attempt is the last one for which there was time.
        let limit = Instant(nanoseconds: 1_000_000_000) + AssistantCallMachine.connectTimeMax
        #expect(call.now <= limit && call.now + .seconds(3) > limit)
        #expect(call.machine.isSettled)
    }

    @Test func aStartWaitsAsLongAsTheGatewayAsks() {
        var call = Call.starting()
        call.feed(.startFailed(refused(503, "store_busy", retryAfter: .seconds(4)), attempt: 1))
        #expect(call.machine.deadline == call.now + .seconds(4))
        call = Call.starting()
        call.feed(.startFailed(refused(429, .tooManyAttempts, retryAfter: .seconds(60)), attempt: 1))
        #expect(
            call.state.phase
                == .ended(
                    .failed(
                        .refused(
                            GatewayRefusal(
                                status: 429, code: .tooManyAttempts, message: "m", retryAfter: .seconds(60))))))
    }

    @Test(arguments: [AccountError.loggedOut, refused(404, "assistant_not_found")])
    func aRefusedStartEndsTheCallAtOnce(error: AccountError) {
        var call = Call.starting()
        call.feed(.startFailed(error, attempt: 1))
        if case .ended(.failed) = call.state.phase {} else { Issue.record("\(call.state.phase)") }
        #expect(call.effects == [] && call.machine.deadline == nil)
    }

    @Test func aBackendThatNeverAnswersIsGivenUp() {
        var call = Call.starting()
        call.tick()
        #expect(call.state.phase == .ended(.failed(.unreachable)))
        call.feed(.started(Call.session, attempt: 1))
        #expect(call.effects == [.endSession(id: "s1")])
    }

    @Test func aRoomThatCannotBeReachedIsTriedAgain() {
        var call = Call.starting()
        call.feed(.started(Call.session, attempt: 1))
        call.feed(.joinFailed(ConnectError(.unreachable, "m"), attempt: 1))
        #expect(call.state.phase == .connecting && call.effects == [])
        call.tick()
        #expect(call.effects == [.join(Call.session, attempt: 1)])
        call.feed(.joinFailed(ConnectError(.refused, "m", status: 403, code: "session_ended"), attempt: 1))
        #expect(call.effects == [.leave(attempt: 1), .endSession(id: "s1")])
        #expect(!call.state.isInCall)
    }

    @Test func aLostConnectionIsShownUntilItIsRestored() {
        var call = Call.active()
        call.feed(.room(.reconnecting, attempt: 1))
        #expect(call.state.phase == .reconnecting && call.state.isInCall)
        call.feed(.room(.reconnected, attempt: 1))
        #expect(call.state.phase == .active)
        let reason = Disconnection.gaveUp(ConnectError(.unreachable, "m"))
        call.feed(.room(.disconnected(reason), attempt: 1))
        #expect(call.state.phase == .ended(.failed(.disconnected(reason))))
        #expect(call.effects == [.leave(attempt: 1), .endSession(id: "s1")])
    }

    @Test func aSessionThatAnotherDeviceEndsIsNotEndedAgain() {
        var call = Call.active()
        call.feed(.room(.disconnected(.closed(.roomClosed)), attempt: 1))
        #expect(call.state.phase == .ended(.endedElsewhere) && call.effects == [.leave(attempt: 1)])
        #expect(call.machine.isSettled)
    }

    @Test func muteBeforeTheRoomIsJoinedAppliesThere() {
        var call = Call.starting()
        call.feed(.setMuted(true))
        #expect(call.state.isMuted && call.effects == [])
        call.feed(.started(Call.session, attempt: 1))
        call.feed(.joined(attempt: 1))
        #expect(call.effects == [.mute(true, attempt: 1)])
        call.feed(.setMuted(false))
        #expect(call.effects == [.mute(false, attempt: 1)] && !call.state.isMuted)
        call.feed(.setMuted(false))
        #expect(call.effects == [])
    }

    @Test func theRecordingNoticeIsNeverShownInACar() {
        let call = Call.active(Call.session, AssistantCallRequest(.carplay))
        #expect(call.state.isLogged && !call.state.showsRecordingNotice)
    }

    @Test func theGatewaySaysWhetherASessionIsLogged() {
        var session = Call.session
        session.logged = false
        #expect(!Call.active(session, AssistantCallRequest(.phone, isLoggingEnabled: true)).state.isLogged)
        session.logged = nil
        #expect(Call.active(session, AssistantCallRequest(.phone, isLoggingEnabled: true)).state.isLogged)
        #expect(!Call.active(session, AssistantCallRequest(.phone)).state.isLogged)
    }

    @Test func theAssistantAndTheMicrophoneAreReported() {
        var call = Call.active()
        #expect(call.state.assistant == .expected)
        for assistant in [AssistantCallState.Assistant.waiting(.busy), .present(.speaking), .gone] {
            call.feed(.room(.assistant(assistant), attempt: 1))
            #expect(call.state.assistant == assistant && call.effects == [])
        }
        call.feed(.room(.microphoneFailed("not permitted"), attempt: 1))
        #expect(call.state.phase == .active && call.state.microphoneProblem == "not permitted")
    }
}

struct AssistantCallBackgroundTests {
    @Test func turnsAreSentOneByOneAndNeverDelayTheCallOrItsEnd() {
        var call = Call.active()
        call.feed(.log(turn("one"), key: "a"))
        #expect(call.effects == [.storeTurn(turn("one"), session: "s1", key: "a")])
        call.feed(.log(turn("two"), key: "b"))
        #expect(call.effects == [])
        // The backend never answers; the call ends at once.
        call.feed(.end)
        #expect(call.state.phase == .ended(.hungUp) && call.effects == [.leave(attempt: 1), .endSession(id: "s1")])
        call.feed(.turnStored(key: "a"))
        #expect(call.effects == [.storeTurn(turn("two"), session: "s1", key: "b")])
        call.feed(.turnStored(key: "b"))
        call.feed(.sessionEnded(id: "s1"))
        #expect(call.machine.isSettled && call.state.turnsDropped == 0)
    }

    @Test func turnsOfSessionsThatAreNotLoggedAreNotSent() {
        var session = Call.session
        session.logged = false
        var call = Call.active(session)
        call.feed(.log(turn("one"), key: "a"))
        #expect(call.effects == [])
        var idle = Call()
        idle.feed(.log(turn("one"), key: "a"))
        #expect(idle.effects == [])
    }

    @Test func aFailedTurnIsRepeatedWithItsKeyAndARefusedOneIsDropped() {
        var call = Call.active()
        call.feed(.log(turn("one"), key: "a"))
        call.feed(.turnFailed(key: "a", isRetryable: true))
        #expect(call.machine.deadline == call.now + .seconds(1))
        call.tick()
        #expect(call.effects == [.storeTurn(turn("one"), session: "s1", key: "a")])
        call.feed(.turnFailed(key: "a", isRetryable: false))
        #expect(call.state.turnsDropped == 1 && call.machine.deadline == nil)
    }

    @Test func theOldestWaitingTurnMakesRoomForTheNewest() {
        var call = Call.active()
        for number in 0..<100 { call.feed(.log(turn("\(number)"), key: "\(number)")) }
        #expect(call.state.turnsDropped == 36)
        call.feed(.turnStored(key: "0"))
        #expect(call.effects == [.storeTurn(turn("37"), session: "s1", key: "37")])
    }

    @Test func theEndOfASessionIsRepeatedAndThenLeftToTheGateway() {
        var call = Call.active()
        call.feed(.end)
        var delays: [Duration] = []
        while !call.machine.isSettled {
            call.feed(.endFailed(id: "s1", isRetryable: true))
            if let deadline = call.machine.deadline { delays.append(deadline - call.now) }
            call.tick()
        }
        #expect(delays == [1, 2, 4, 8, 16].map { .seconds($0) })
        #expect(call.state.phase == .ended(.hungUp))
    }

    @Test func anUnansweredEndDoesNotDelayTheNextCall() {
        var call = Call.active()
        call.feed(.end)
        call.feed(.start(Call.request, key: "k2"))
        #expect(call.effects == [.startSession(Call.request, key: "k2", attempt: 2)])
    }

    @Test func noSequenceOfInputsBreaksTheMachine() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 {
            var call = Call()
            for step in 0..<300 {
                let attempt = Int(random.below(3))
                let inputs: [AssistantCallMachine.Input] = [
                    .start(Call.request, key: "k\(step)"), .end, .setMuted(random.chance(50)), .log(turn("x"), key: "t\(step)"), .tick,
                    .started(Call.session, attempt: attempt), .startFailed(unreachable, attempt: attempt), .joined(attempt: attempt),
                    .joinFailed(ConnectError(.timeout, "m"), attempt: attempt), .room(.reconnecting, attempt: attempt),
                    .room(.disconnected(.lost), attempt: attempt), .sessionEnded(id: "s1"), .endFailed(id: "s1", isRetryable: true),
                    .turnStored(key: "t\(step - 1)"), .turnFailed(key: "t\(step - 1)", isRetryable: true),
                ]
                call.feed(inputs[Int(random.below(inputs.count))], after: .milliseconds(Int64(random.below(2_000))))
                #expect(call.state.isInCall || !call.state.isMuted)
                #expect(call.state.phase != .active || call.state.sessionID != nil)
            }
        }
    }
}
