import PatchbayClient
import Testing
import Wire

/// Calls between the devices of users.
@Suite(.timeLimit(.minutes(1)))
struct CallChannelTests {
    @Test func answeringDeviceHearsTheCaller() async throws {
        try await CallGateway.run { gateway in
            let (ann, bob, caller, callee) = try await gateway.annAndBob()
            let (call, room) = try await caller.call([bob.party], callerName: "Ann")
            #expect(call.state == .connecting && call.direction == .outgoing)
            let voice = try await room.publish(name: "mic")

            let ringing = try await callee.ring()
            #expect(ringing.state == .connecting && ringing.direction == .incoming)
            #expect(ringing.info.callerName == "Ann")
            let answered = try await ringing.answer()
            let track = try await answered.track(of: ann.identity.text)
            let frames = answered.frames(of: track.sid)
            try await voice.speak(Sound.tone(milliseconds: 60))
            #expect(await frames.prefix(3).count == 3)
            try await caller.told(.active, of: call.id)
            #expect(callee.calls[call.id]?.state == .active)

            try await ringing.hangUp()
            #expect(try await caller.ending() == .completed)
            #expect(try await callee.ending() == .completed)
            // Rooms end with their call.
            for room in [room, answered] { _ = try await room.first { if case .disconnected = $0 { true } else { nil } } }
        }
    }

    @Test func usersWhoCallEachOtherShareARoom() async throws {
        try await CallGateway.run { gateway in
            let (ann, bob, one, other) = try await gateway.annAndBob()
            async let first = one.call([bob.party])
            async let second = other.call([ann.party])
            let (anns, bobs) = (try await first, try await second)
            #expect(anns.call.id == bobs.call.id)
            #expect([anns, bobs].contains { $0.call.state == .active }, "one of them has answered")
            _ = try await anns.room.publish(name: "mic")
            _ = try await bobs.room.track(of: ann.identity.text)
            try await anns.call.hangUp()
            for channel in [one, other] { #expect(try await channel.ending() == .completed) }
        }
    }
}
