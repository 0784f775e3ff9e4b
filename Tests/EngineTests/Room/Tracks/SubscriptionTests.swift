import Testing
import Wire

@testable import Engine

struct SubscriptionTests {
    @Test func subscriptionsFollowTheRequests() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        #expect(world.send(bob, .subscribe(track.sid, subscribed: false)) == .reply(.done))
        #expect(world.trace == ["reply > bob", "patch unsubscribe bob to 1"])
        #expect(world.send(bob, .subscribe(track.sid, subscribed: false)) == .reply(.done))
        #expect(world.trace == ["reply > bob"])
        world.send(bob, .subscribe(track.sid, subscribed: true))
        #expect(world.trace == ["reply > bob", "patch subscribe bob to 1"])
    }

    /// The number tells replies of different subscriptions apart.
    @Test func eachSubscriptionGetsANewNumber() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann, PublishTrack(mode: .ahead))
        var numbers: [UInt32] = []
        for _ in 0..<3 {
            world.send(bob, .subscribe(track.sid, subscribed: false))
            world.send(bob, .subscribe(track.sid, subscribed: true))
            for case .patch(.subscribe(bob, to: _, of: ann, let options)) in world.effects { numbers.append(options.number) }
        }
        #expect(Set(numbers).count == 3)
    }

    @Test func subscribingRequiresTheGrant() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        let bob = world.join("bob", permission: Permission(canSubscribe: false))
        #expect(world.send(bob, .subscribe(track.sid, subscribed: true))?.code == .notAllowed)
        #expect(world.send(bob, .subscribe(track.sid, subscribed: false)) == .reply(.done))
    }

    @Test func ownAndUnknownTracksCannotBeSubscribed() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        #expect(world.send(ann, .subscribe(track.sid, subscribed: true))?.code == .invalidArgument)
        #expect(world.send(ann, .subscribe(TrackSID(text: "TR_none"), subscribed: true))?.code == .notFound)
    }

    @Test func subscriptionChoiceEndsWithItsTrack() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let first = try world.publish(ann)
        world.send(bob, .subscribe(first.sid, subscribed: false))
        world.send(ann, .unpublish(first.sid))
        let second = try world.publish(ann)
        #expect(world.receives(bob, second))
    }
}

struct HoldingTests {
    @Test func holdStopsMediaInBothDirections() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let hers = try world.publish(ann)
        let his = try world.publish(bob)
        world.receive(.talkStarted(hers.sid, at: MediaTime(ticks: 0)))
        world.send(ann, .hold(true))
        #expect(
            world.trace == [
                "patch unsubscribe ann to 2", "patch gate 1 held", "reply > ann", "talkStopped > ann bob", "callHeld > ann bob",
            ])
        #expect(!world.receives(bob, hers) && !world.receives(ann, his))
        world.send(ann, .hold(false))
        #expect(world.trace == ["patch subscribe ann to 2", "patch gate 1 open", "reply > ann", "callResumed > ann bob"])
        #expect(world.receives(bob, hers) && world.receives(ann, his))
    }

    @Test func repeatedHoldHasNoEffect() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.send(ann, .hold(true))
        #expect(world.send(ann, .hold(true)) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
    }

    @Test func muteIsKeptThroughAHold() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.send(ann, .mute(track.sid, muted: true))
        world.send(ann, .hold(true))
        #expect(world.gates[track.alias] == .held)
        world.send(ann, .hold(false))
        #expect(world.gates[track.alias] == .muted)
    }

    @Test func changesDuringAHoldApplyAfterIt() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let hers = try world.publish(ann)
        let his = try world.publish(bob)
        world.send(ann, .hold(true))
        world.send(ann, .mute(hers.sid, muted: true))
        #expect(world.trace == ["reply > ann", "trackMuted > ann bob"])
        world.send(ann, .subscribe(his.sid, subscribed: false))
        world.send(ann, .hold(false))
        #expect(world.gates[hers.alias] == .muted && !world.receives(ann, his))
    }

    @Test func trackPublishedOnHoldHasAClosedGate() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.send(ann, .hold(true))
        let track = try world.publish(ann)
        #expect(world.trace == ["patch publish 1 by ann", "patch gate 1 held", "reply > ann"])
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        #expect(world.effects.isEmpty)
    }

    @Test func heldSubscriberIsNotSubscribedToNewTracks() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.send(bob, .hold(true))
        let track = try world.publish(ann)
        #expect(!world.receives(bob, track))
        world.send(bob, .hold(false))
        #expect(world.receives(bob, track))
    }
}
