import Foundation
import PatchbayClient
import Testing
import Wire

@Suite(.timeLimit(.minutes(1)))
struct LifetimeTests {
    @Test func releasedRoomLeaves() async throws {
        try await TestGateway.run { gateway in
            let bob = try await gateway.join("bob")
            var alice: RoomConnection? = try await gateway.join("alice")
            let voice = try await alice?.publish()
            alice = nil
            let left = try await bob.first { if case .gateway(.participantLeft(let who, _), _) = $0 { who } else { nil } }
            #expect(left.text == "alice")
            // A track may outlive its room.
            await #expect(throws: RequestFailure.ended) {
                while true { try await voice?.speak(Sound.tone(milliseconds: 40)) }
            }
            await bob.leave()
        }
    }

    @Test func hundredRoomsShareAThread() async throws {
        try await TestGateway.run { gateway in
            let first = try await gateway.join("first")
            try await withThrowingTaskGroup(of: RoomConnection.self) { group in
                for number in 0..<100 { group.addTask { try await gateway.join("guest \(number)", room: "room \(number % 10)") } }
                var rooms: [RoomConnection] = []
                for try await room in group { rooms.append(room) }
                // Early participants learn of later ones by events.
                for room in rooms { while room.participants.count < 9 { try await Task.sleep(for: .milliseconds(5)) } }
                for room in rooms { await room.leave() }
            }
            await first.leave()
        }
    }

    @Test func eventsStartWithHelloAndEndWithDisconnected() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            await alice.leave()
            var events: [RoomEvent] = []
            for await event in alice.events { events.append(event) }
            guard case .gateway(.hello, seq: 1) = events.first else { return #expect(Bool(false), "hello comes first") }
            guard case .disconnected(.left) = events.last else { return #expect(Bool(false), "the end comes last") }
        }
    }
}
