import Engine
import Testing
import Wire

/// Muted as a whole by word from outside, as a call's member is: whatever tracks there are or will be.
struct SilencingTests {
    private var world = RoomWorld()
    private let ann: ParticipantHandle
    private let bob: ParticipantHandle

    init() {
        ann = world.join("ann")
        bob = world.join("bob")
    }

    @Test mutating func everybodyIsToldThatSomebodyIsMutedAndHearsNothingOfIt() throws {
        let track = try world.publish(ann)
        world.happens(.administered(.muteParticipant("ann", true)))
        #expect(world.trace == ["patch gate 1 muted", "callMuted > ann bob"])
        #expect(!world.hears(bob, track))
        world.happens(.administered(.muteParticipant("ann", false)))
        #expect(world.trace == ["patch gate 1 open", "callUnmuted > ann bob"])
        #expect(world.hears(bob, track))
    }

    @Test mutating func whatIsSaidAgainIsToldOnce() {
        world.happens(.administered(.muteParticipant("ann", true)))
        world.happens(.administered(.muteParticipant("ann", true)))
        #expect(world.effects.isEmpty)
    }

    @Test mutating func aTrackThatIsMutedItselfStaysSoAfterwards() throws {
        let track = try world.publish(ann)
        world.ask(ann, .mute(track.sid, muted: true))
        world.happens(.administered(.muteParticipant("ann", true)))
        world.happens(.administered(.muteParticipant("ann", false)))
        #expect(world.trace == ["callUnmuted > ann bob"])
        #expect(!world.hears(bob, track))
    }

    @Test mutating func aTalkspurtEndsBeforeTheOthersAreToldWhy() throws {
        let track = try world.publish(ann)
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.happens(.administered(.muteParticipant("ann", true)))
        #expect(world.trace == ["patch gate 1 muted", "talkStopped > ann bob", "callMuted > ann bob"])
    }

    @Test mutating func nobodyIsToldOfAHiddenOne() {
        world.join("spy", permission: Permission(hidden: true))
        world.happens(.administered(.muteParticipant("spy", true)))
        #expect(world.trace == ["callMuted > spy"])
    }
}
