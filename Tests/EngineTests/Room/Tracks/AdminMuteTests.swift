import Testing
import Wire

@testable import Engine

/// Administrative mute of a whole participant: all current and future tracks.
struct AdminMuteTests {
    private var world = RoomWorld()
    private let ann: ParticipantHandle
    private let bob: ParticipantHandle

    init() {
        ann = world.join("ann")
        bob = world.join("bob")
    }

    @Test mutating func adminMuteIsReportedAndClosesTheGates() throws {
        let track = try world.publish(ann)
        world.receive(.administered(.muteParticipant("ann", true)))
        #expect(world.trace == ["patch gate 1 muted", "callMuted > ann bob"])
        #expect(!world.receives(bob, track))
        world.receive(.administered(.muteParticipant("ann", false)))
        #expect(world.trace == ["patch gate 1 open", "callUnmuted > ann bob"])
        #expect(world.receives(bob, track))
    }

    @Test mutating func repeatedAdminMuteIsReportedOnce() {
        world.receive(.administered(.muteParticipant("ann", true)))
        world.receive(.administered(.muteParticipant("ann", true)))
        #expect(world.effects.isEmpty)
    }

    @Test mutating func trackMuteSurvivesTheAdminMute() throws {
        let track = try world.publish(ann)
        world.send(ann, .mute(track.sid, muted: true))
        world.receive(.administered(.muteParticipant("ann", true)))
        world.receive(.administered(.muteParticipant("ann", false)))
        #expect(world.trace == ["callUnmuted > ann bob"])
        #expect(!world.receives(bob, track))
    }

    @Test mutating func talkspurtEndsBeforeTheMuteIsReported() throws {
        let track = try world.publish(ann)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.receive(.administered(.muteParticipant("ann", true)))
        #expect(world.trace == ["patch gate 1 muted", "talkStopped > ann bob", "callMuted > ann bob"])
    }

    @Test mutating func hiddenParticipantCausesNoEvents() {
        world.join("spy", permission: Permission(hidden: true))
        world.receive(.administered(.muteParticipant("spy", true)))
        #expect(world.trace == ["callMuted > spy"])
    }
}
