import Testing
import Wire

@testable import Engine

extension HoldingTests {
    @Test func holdEndsTalkAndActiveSpeaking() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 4_800)))
        world.receive(.measured([.loud(track)]))
        world.pass(.milliseconds(100))
        world.discardEvents()
        world.send(ann, .hold(true))
        #expect(
            world.takeEvents(ann) == [
                .talkStopped("ann", track.sid, at: MediaTime(ticks: 9_600), reason: .muted), .callHeld(by: "ann"),
                .speakersChanged([Speaker(participant: "ann", track: track.sid, level: 0, active: false)]),
            ])
        world.receive(.talkStopped(track.sid, at: MediaTime(ticks: 9_600), .end))
        #expect(world.effects.isEmpty)
    }

    @Test func resumingWithoutAHoldCausesNoEvents() {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.send(ann, .hold(false)) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
    }

    @Test func resumingOneOfTwoHeldParticipantsKeepsTheOtherHeld() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let hers = try world.publish(ann)
        let his = try world.publish(bob)
        world.send(ann, .hold(true))
        world.send(bob, .hold(true))
        world.send(bob, .hold(false))
        #expect(!world.receives(ann, his) && !world.receives(bob, hers))
        #expect(world.gates[hers.alias] == .held && world.gates[his.alias] == .open)
    }

    @Test func adminUnmuteDoesNotEndAHold() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.send(ann, .mute(track.sid, muted: true))
        world.send(ann, .hold(true))
        world.receive(.administered(.mute(track.sid, muted: false)))
        #expect(world.trace == ["trackUnmuted > ann"])
        #expect(world.gates[track.alias] == .held)
        world.send(ann, .hold(false))
        #expect(world.gates[track.alias] == .open)
    }

    @Test func leavingOnHoldLeavesNoState() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        _ = try world.publish(ann)
        _ = try world.publish(bob)
        world.send(ann, .hold(true))
        world.receive(.left(ann, .signalClose))
        #expect(world.trace == ["patch unpublish 1 by ann", "trackUnpublished > bob", "participantLeft > bob"])
        #expect(world.options.isEmpty)
    }
}

struct AdminHoldTests {
    @Test func adminHoldEqualsTheParticipantsOwn() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        _ = try world.publish(ann)
        _ = try world.publish(bob)
        world.discardEvents()
        world.receive(.administered(.hold("bob", true)))
        #expect(world.takeEvents(ann) == [.callHeld(by: "bob")])
        #expect(world.trace.contains("patch gate 2 held"))
        world.receive(.administered(.hold("bob", true)))
        #expect(world.effects.isEmpty)
        world.receive(.administered(.hold("bob", false)))
        #expect(world.takeEvents(ann).last == .callResumed(by: "bob"))
        #expect(world.trace.contains("patch gate 2 open"))
    }

    @Test func adminMuteClosesAllTracksOfAParticipant() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        _ = try world.publish(ann)
        world.receive(.administered(.muteParticipant("ann", true)))
        #expect(world.trace == ["patch gate 1 muted", "callMuted > ann"])
        let second = try world.publish(ann)
        #expect(world.trace.contains("patch gate 2 muted"))
        world.receive(.request(.mute(second.sid, muted: true), id: nil, from: ann))
        world.receive(.administered(.muteParticipant("ann", false)))
        // A track's own mute is kept.
        #expect(world.trace == ["patch gate 1 open", "callUnmuted > ann"])
        world.receive(.administered(.muteParticipant("bob", true)))
        #expect(world.effects.isEmpty)
    }
}
