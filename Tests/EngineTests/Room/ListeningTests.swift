import Engine
import Testing
import Wire

struct SubscriptionTests {
    @Test func aListenerChoosesWhatItHears() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        #expect(world.ask(bob, .subscribe(track.sid, subscribed: false)) == .reply(.done))
        #expect(world.trace == ["reply > bob", "patch stop bob to 1"])
        #expect(world.ask(bob, .subscribe(track.sid, subscribed: false)) == .reply(.done))
        #expect(world.trace == ["reply > bob"])
        world.ask(bob, .subscribe(track.sid, subscribed: true))
        #expect(world.trace == ["reply > bob", "patch listen bob to 1"])
    }

    /// By it is told what belongs to which of them.
    @Test func whoListensAnewIsGivenAnotherNumber() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann, PublishTrack(mode: .ahead))
        var numbers: [UInt32] = []
        for _ in 0..<3 {
            world.ask(bob, .subscribe(track.sid, subscribed: false))
            world.ask(bob, .subscribe(track.sid, subscribed: true))
            for case .patch(.subscribe(bob, to: _, of: ann, let options)) in world.effects { numbers.append(options.number) }
        }
        #expect(Set(numbers).count == 3)
    }

    @Test func withoutTheGrantNobodySubscribes() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        let bob = world.join("bob", permission: Permission(canSubscribe: false))
        #expect(world.ask(bob, .subscribe(track.sid, subscribed: true))?.code == .notAllowed)
        #expect(world.ask(bob, .subscribe(track.sid, subscribed: false)) == .reply(.done))
    }

    @Test func ownAndUnknownTracksAreNoChoice() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        #expect(world.ask(ann, .subscribe(track.sid, subscribed: true))?.code == .invalidArgument)
        #expect(world.ask(ann, .subscribe(TrackSID(text: "TR_none"), subscribed: true))?.code == .notFound)
    }

    @Test func aWishDiesWithItsTrack() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let first = try world.publish(ann)
        world.ask(bob, .subscribe(first.sid, subscribed: false))
        world.ask(ann, .unpublish(first.sid))
        let second = try world.publish(ann)
        #expect(world.hears(bob, second))
    }
}

struct HoldingTests {
    @Test func onHoldOneNeitherHearsNorIsHeard() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let hers = try world.publish(ann)
        let his = try world.publish(bob)
        world.happens(.talkStarted(hers.sid, at: MediaTime(ticks: 0)))
        world.ask(ann, .hold(true))
        #expect(
            world.trace == ["patch stop ann to 2", "patch gate 1 held", "reply > ann", "talkStopped > ann bob", "callHeld > ann bob"])
        #expect(!world.hears(bob, hers) && !world.hears(ann, his))
        world.ask(ann, .hold(false))
        #expect(world.trace == ["patch listen ann to 2", "patch gate 1 open", "reply > ann", "callResumed > ann bob"])
        #expect(world.hears(bob, hers) && world.hears(ann, his))
    }

    @Test func holdingTwiceIsHoldingOnce() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.ask(ann, .hold(true))
        #expect(world.ask(ann, .hold(true)) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
    }

    @Test func whatWasMutedIsMutedAgainAfterTheHold() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.ask(ann, .mute(track.sid, muted: true))
        world.ask(ann, .hold(true))
        #expect(world.gates[track.alias] == .held)
        world.ask(ann, .hold(false))
        #expect(world.gates[track.alias] == .muted)
    }

    @Test func mutingAndChoosingDuringAHoldCountsAfterIt() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let hers = try world.publish(ann)
        let his = try world.publish(bob)
        world.ask(ann, .hold(true))
        world.ask(ann, .mute(hers.sid, muted: true))
        #expect(world.trace == ["reply > ann", "trackMuted > ann bob"])
        world.ask(ann, .subscribe(his.sid, subscribed: false))
        world.ask(ann, .hold(false))
        #expect(world.gates[hers.alias] == .muted && !world.hears(ann, his))
    }

    @Test func whatIsPublishedDuringAHoldWaitsBehindTheGate() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.ask(ann, .hold(true))
        let track = try world.publish(ann)
        #expect(world.trace == ["patch publish 1 by ann", "patch gate 1 held", "reply > ann"])
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        #expect(world.effects.isEmpty)
    }

    @Test func aHeldListenerHearsNothingNew() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.ask(bob, .hold(true))
        let track = try world.publish(ann)
        #expect(!world.hears(bob, track))
        world.ask(bob, .hold(false))
        #expect(world.hears(bob, track))
    }
}
