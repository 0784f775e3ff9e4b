import Engine
import Testing
import Wire

extension HoldingTests {
    @Test func aHoldEndsTalkingAndSpeaking() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 4_800)))
        world.happens(.measured([.loud(track)]))
        world.pass(.milliseconds(100))
        world.forgetNews()
        world.ask(ann, .hold(true))
        #expect(
            world.news(ann) == [
                .talkStopped("ann", track.sid, at: MediaTime(ticks: 9_600), reason: .muted), .callHeld(by: "ann"),
                .speakersChanged([Speaker(participant: "ann", track: track.sid, level: 0, active: false)]),
            ])
        world.happens(.talkStopped(track.sid, at: MediaTime(ticks: 9_600), .end))
        #expect(world.effects.isEmpty)
    }

    @Test func resumingWhatIsNotHeldSaysNothing() {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.ask(ann, .hold(false)) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
    }

    @Test func twoOnHoldDoNotWakeEachOther() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let hers = try world.publish(ann)
        let his = try world.publish(bob)
        world.ask(ann, .hold(true))
        world.ask(bob, .hold(true))
        world.ask(bob, .hold(false))
        #expect(!world.hears(ann, his) && !world.hears(bob, hers))
        #expect(world.gates[hers.alias] == .held && world.gates[his.alias] == .open)
    }

    @Test func anAdministratorsUnmuteDoesNotEndAHold() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.ask(ann, .mute(track.sid, muted: true))
        world.ask(ann, .hold(true))
        world.happens(.administered(.mute(track.sid, muted: false)))
        #expect(world.trace == ["trackUnmuted > ann"])
        #expect(world.gates[track.alias] == .held)
        world.ask(ann, .hold(false))
        #expect(world.gates[track.alias] == .open)
    }

    @Test func whoLeavesOnHoldLeavesNothingBehind() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        _ = try world.publish(ann)
        _ = try world.publish(bob)
        world.ask(ann, .hold(true))
        world.happens(.left(ann, .signalClose))
        #expect(world.trace == ["patch unpublish 1 by ann", "trackUnpublished > bob", "participantLeft > bob"])
        #expect(world.options.isEmpty)
    }
}

struct HoldFromOutsideTests {
    @Test func anAdministratorsHoldIsAsTheParticipantsOwn() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        _ = try world.publish(ann)
        _ = try world.publish(bob)
        world.forgetNews()
        world.happens(.administered(.hold("bob", true)))
        #expect(world.news(ann) == [.callHeld(by: "bob")])
        #expect(world.trace.contains("patch gate 2 held"))
        world.happens(.administered(.hold("bob", true)))
        #expect(world.effects.isEmpty)
        world.happens(.administered(.hold("bob", false)))
        #expect(world.news(ann).last == .callResumed(by: "bob"))
        #expect(world.trace.contains("patch gate 2 open"))
    }

    @Test func whoIsSilencedIsNotHeardOnAnyTrack() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        _ = try world.publish(ann)
        world.happens(.administered(.muteParticipant("ann", true)))
        #expect(world.trace == ["patch gate 1 muted", "callMuted > ann"])
        let second = try world.publish(ann)
        #expect(world.trace.contains("patch gate 2 muted"))
        world.happens(.request(.mute(second.sid, muted: true), id: nil, from: ann))
        world.happens(.administered(.muteParticipant("ann", false)))
        // What is muted itself stays so.
        #expect(world.trace == ["patch gate 1 open", "callUnmuted > ann"])
        world.happens(.administered(.muteParticipant("bob", true)))
        #expect(world.effects.isEmpty)
    }
}
