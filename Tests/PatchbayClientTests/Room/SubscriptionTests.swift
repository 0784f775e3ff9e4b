import Engine
import Testing
import Wire

@testable import PatchbayClient

/// Which subscriptions a client repeats after a fresh join.
@Suite(.timeLimit(.minutes(1)))
struct SubscriptionTests {
    private func restorable(of room: RoomConnection) async -> [TrackSID: Bool] {
        await withCheckedContinuation { subscriptions in
            room.handle.submit {
                subscriptions.resume(returning: $0.restorable.subscriptions)
            } ended: {
                subscriptions.resume(returning: [:])
            }
        }
    }

    @Test func refusedSubscriptionsAreNotRestored() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            await #expect(throws: RequestFailure.self) { try await alice.subscribe(TrackSID(text: "TR_none")) }
            #expect(await restorable(of: alice).isEmpty)
            await alice.leave()
        }
    }

    @Test func subscriptionsAreForgottenWithTheirTrack() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish()
            let first = try await bob.track(of: "alice").sid
            try await bob.subscribe(first, subscribed: false)
            #expect(await restorable(of: bob) == [first: false])
            try await voice.unpublish()
            _ = try await bob.first { if case .gateway(.trackUnpublished(first, _), _) = $0 { true } else { nil } }
            #expect(await restorable(of: bob).isEmpty)

            let second = try await alice.publish().sid
            _ = try await bob.first { if case .gateway(.trackPublished(let track), _) = $0, track.sid == second { true } else { nil } }
            try await bob.subscribe(second, subscribed: false)
            await alice.leave()
            _ = try await bob.first { if case .gateway(.participantLeft, _) = $0 { true } else { nil } }
            #expect(await restorable(of: bob).isEmpty)
            await bob.leave()
        }
    }

    @Test func acceptedSubscriptionsAreRestoredAfterAFreshJoin() async throws {
        try await TestGateway.run(room: RoomSettings(resumeWindow: .zero)) { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            _ = try await alice.publish()
            let track = try await bob.track(of: "alice").sid
            try await bob.subscribe(track, subscribed: false)
            bob.dropConnection()
            try await bob.hasReconnected(1)
            #expect(await restorable(of: bob) == [track: false])
            await alice.leave()
            await bob.leave()
        }
    }
}
