import PatchbayClient
import Testing
import Wire

/// The actions of a call screen, seen from both sides.
@Suite(.timeLimit(.minutes(1)))
struct CallButtonsTests {
    @Test func firstDeviceToAnswerWins() async throws {
        try await CallGateway.run { gateway in
            let (ann, bob) = (try await gateway.user("ann"), try await gateway.user("bob"))
            let (caller, hers) = (try await ann.device(), try await ann.device())
            let his = [try await bob.device(), try await bob.device()]
            let (call, room) = try await caller.call([bob.party])
            let ringing = [try await his[0].ring(), try await his[1].ring()]
            async let first = Attempt(answering: ringing[0])
            async let second = Attempt(answering: ringing[1])
            let attempts = [await first, await second]

            let winners = attempts.indices.filter { attempts[$0].room != nil }
            let winner = try #require(winners.first)
            #expect(winners.count == 1)
            guard case .request(.refused(let refusal)) = attempts[1 - winner].failure else {
                Issue.record("not refused: \(attempts)")
                return
            }
            #expect(refusal.code == .conflict)
            #expect(try await his[1 - winner].ending() == .answeredElsewhere)
            #expect(his[1 - winner].calls.callsElsewhere.map(\.id) == [call.id])
            try await his[winner].told(.active, of: call.id)
            // The caller's other device shows nothing.
            #expect(hers.calls.calls.isEmpty)
            await room.leave()
        }
    }

    @Test func hangUpBeforeAnAnswerCancels() async throws {
        try await CallGateway.run { gateway in
            let (_, bob, caller, callee) = try await gateway.annAndBob()
            let (call, room) = try await caller.call([bob.party])
            let ringing = try await callee.ring()
            try await call.hangUp()
            #expect(try await caller.ending() == .cancelled)
            #expect(try await callee.ending() == .cancelled)
            #expect(callee.calls.calls.isEmpty)
            guard case .request(.refused(let refusal)) = await Attempt(answering: ringing).failure else {
                Issue.record("a call that is over was answered")
                return
            }
            #expect(refusal.code == .conflict)
            _ = room
        }
    }

    @Test(arguments: zip([false, true], [CallEnding.rejected, .busy]))
    func rejectionReachesAllDevicesWithItsReason(busy: Bool, ending: CallEnding) async throws {
        try await CallGateway.run { gateway in
            let (ann, bob) = (try await gateway.user("ann"), try await gateway.user("bob"))
            let (caller, callee, other) = (try await ann.device(), try await bob.device(), try await bob.device())
            let (_, room) = try await caller.call([bob.party])
            try await callee.ring().reject(busy: busy, reason: "driving")
            let reason = try await caller.first {
                if case .changed(_, let event?) = $0, [.rejected, .busy].contains(event.kind) { event.reason ?? "none" } else { nil }
            }
            #expect(reason == "driving")
            #expect(try await caller.ending() == ending)
            #expect(try await callee.ending() == ending)
            #expect(try await other.ending() == ending)
            _ = room
        }
    }

    @Test func unansweredCallIsMissed() async throws {
        try await CallGateway.run(ringTime: .milliseconds(500)) { gateway in
            let (_, bob, caller, callee) = try await gateway.annAndBob()
            var room: RoomConnection?
            // On a slow machine it may time out before its room is joined.
            do throws(CallFailure) { room = try await caller.call([bob.party]).room } catch { #expect(error == .over(.unanswered)) }
            #expect(try await callee.ending() == .unanswered)
            #expect(try await caller.ending() == .unanswered)
            _ = room
        }
    }

    @Test func userInACallIsBusy() async throws {
        try await CallGateway.run { gateway in
            let (ann, bob, cat) = (try await gateway.user("ann"), try await gateway.user("bob"), try await gateway.user("cat"))
            let (anns, bobs, cats) = (try await ann.device(), try await bob.device(), try await cat.device())
            let (_, room) = try await anns.call([bob.party])
            let his = try await bobs.ring().answer()
            await #expect(throws: CallFailure.over(.busy)) { _ = try await cats.call([bob.party]) }
            #expect(bobs.calls.calls.count == 1)
            _ = (room, his)
        }
    }

    @Test func holdAndResumeAreVisibleOnBothSides() async throws {
        try await CallGateway.run { gateway in
            let (_, bob, caller, callee) = try await gateway.annAndBob()
            let (call, room) = try await caller.call([bob.party])
            let his = try await callee.ring().answer()
            try await call.hold()
            #expect(try await caller.told(.held, of: call.id).isHeldByUs)
            let held = try await callee.told(.held, of: call.id)
            #expect(held.isHeldByOthers && !held.isHeldByUs)
            try await call.hold(false)
            try await caller.told(.active, of: call.id)
            try await callee.told(.active, of: call.id)
            _ = (room, his)
        }
    }

    @Test func audioOnHoldIsNotForwarded() async throws {
        try await CallGateway.run { gateway in
            let (ann, bob, caller, callee) = try await gateway.annAndBob()
            let (call, room) = try await caller.call([bob.party])
            let his = try await callee.ring().answer()
            let (voice, frames) = try await room.voice(heardIn: his, as: ann)
            try await voice.speak(Sound.tone(milliseconds: 40))
            try await call.hold()
            _ = try await room.first { if case .gateway(.callHeld, _) = $0 { true } else { nil } }
            try await voice.speak(Sound.tone(milliseconds: 100))
            try await call.hold(false)
            _ = try await room.first { if case .gateway(.callResumed, _) = $0 { true } else { nil } }
            try await voice.speak(Sound.tone(milliseconds: 40))
            let sequences = await frames.prefix(4).map(\.header.sequence)
            #expect(sequences.map { $0.distance(from: sequences[0]) } == [0, 1, 7, 8])
        }
    }

    @Test func muteIsVisibleToOthers() async throws {
        try await CallGateway.run { gateway in
            let (ann, bob, caller, callee) = try await gateway.annAndBob()
            let (call, room) = try await caller.call([bob.party])
            let his = try await callee.ring().answer()
            for (muted, kind) in [(true, CallEvent.Kind.muted), (false, .unmuted)] {
                try await call.mute(muted)
                #expect(caller.calls[call.id]?.isMuted == muted)
                let told = try await callee.first {
                    if case .changed(let call, let event?) = $0, event.kind == kind { call.info.member(ann.party)?.muted } else { nil }
                }
                #expect(told == muted)
            }
            _ = (room, his)
        }
    }

    @Test func invitedThirdUserJoins() async throws {
        try await CallGateway.run { gateway in
            let (ann, bob, cat) = (try await gateway.user("ann"), try await gateway.user("bob"), try await gateway.user("cat"))
            let (anns, bobs, cats) = (try await ann.device(), try await bob.device(), try await cat.device())
            let (call, room) = try await anns.call([bob.party])
            let his = try await bobs.ring().answer()
            try await call.invite([cat.party])
            let hers = try await cats.ring().answer()
            #expect(hers.participants.count == 2)
            try await call.hangUp()
            // The remaining two continue.
            #expect(try await anns.ending() == .completed)
            #expect(bobs.calls[call.id]?.state == .active && cats.calls[call.id]?.state == .active)
            _ = (room, his)
        }
    }

    @Test func anotherDeviceTakesTheCallOver() async throws {
        try await CallGateway.run { gateway in
            let (ann, bob) = (try await gateway.user("ann"), try await gateway.user("bob"))
            let (caller, phone, car) = (try await ann.device(), try await bob.device(), try await bob.device())
            let (call, room) = try await caller.call([bob.party])
            let onPhone = try await phone.ring().answer()
            #expect(try await car.ending() == .answeredElsewhere)
            let (taken, inCar) = try await car.join(call.id)
            #expect(taken.state == .active)
            let end = try await onPhone.first { if case .disconnected(let reason) = $0 { reason } else { nil } }
            #expect(end == .closed(.duplicateIdentity))
            #expect(try await phone.ending() == .movedElsewhere)
            #expect(phone.calls.callsElsewhere.map(\.id) == [call.id])
            #expect(inCar.participants.map(\.identity.text) == [ann.identity.text])
            try await taken.hangUp()
            #expect(try await caller.ending() == .completed)
            _ = room
        }
    }

    @Test func assistantAnswersCalls() async throws {
        try await CallGateway.run { gateway in
            let ann = try await gateway.user("ann")
            let (caller, process) = (try await ann.device(), try await gateway.assistant("helper"))
            let (call, room) = try await caller.call([.assistant("helper")])
            let its = try await process.ring().answer()
            #expect(its.participants.map(\.identity.text) == [ann.identity.text])
            try await caller.told(.active, of: call.id)
            #expect(process.calls.calls.map(\.state) == [.active])
            try await call.hangUp()
            #expect(try await process.ending() == .completed)
            _ = (room, its)
        }
    }

    @Test func deviceThatCannotJoinTheRoomHangsUp() async throws {
        try await CallGateway.run(publicURL: "wss://127.0.0.1:1") { gateway in
            let (_, bob, caller, callee) = try await gateway.annAndBob()
            let failure = await #expect(throws: CallFailure.self) { _ = try await caller.call([bob.party]) }
            guard case .room(let error) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(error.kind == .unreachable)
            #expect(try await callee.ending() == .cancelled)
            #expect(try await caller.ending() == .cancelled)
        }
    }
}

/// The result of answering.
private struct Attempt: Sendable {
    var room: RoomConnection?
    var failure: CallFailure?

    init(answering call: Call) async {
        do throws(CallFailure) { room = try await call.answer() } catch { failure = error }
    }
}
