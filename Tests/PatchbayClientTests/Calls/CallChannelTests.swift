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
}
