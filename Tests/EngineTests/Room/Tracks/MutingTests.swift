import Testing
import Wire

@testable import Engine

extension MutingTests {
    @Test func adminMuteCommandIsReportedOnce() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        world.receive(.administered(.mute(track.sid, muted: true)))
        #expect(world.trace == ["patch gate 1 muted", "trackMuted > ann bob"])
        #expect(!world.receives(bob, track))
        world.receive(.administered(.mute(track.sid, muted: true)))
        #expect(world.effects.isEmpty)
        world.receive(.administered(.mute(TrackSID(text: "TR_none"), muted: true)))
        #expect(world.effects.isEmpty)
    }

    @Test func roomAdminCannotUnmuteOthersEvenIfUnmuted() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        let boss = world.join("boss", isRoomAdmin: true)
        #expect(world.send(boss, .mute(track.sid, muted: false))?.code == .notAllowed)
        #expect(world.trace == ["reject not_allowed > boss"])
    }

    @Test func unmutingAnOpenTrackCausesNoEvents() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        let track = try world.publish(ann)
        #expect(world.send(ann, .mute(track.sid, muted: false)) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
    }

    @Test func talkspurtEndedByAMuteEndsOnce() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.send(ann, .mute(track.sid, muted: true))
        #expect(world.trace == ["patch gate 1 muted", "reply > ann", "talkStopped > ann", "trackMuted > ann"])
        world.receive(.talkStopped(track.sid, at: MediaTime(ticks: 960), .end))
        #expect(world.effects.isEmpty)
    }

    @Test func mutedTrackDoesNotTalk() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.send(ann, .mute(track.sid, muted: true))
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.receive(.measured([.loud(track)]))
        #expect(world.effects.isEmpty)
        world.send(ann, .mute(track.sid, muted: false))
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 48)))
        #expect(world.trace == ["talkStarted > ann"])
    }

    @Test func muteEndsActiveSpeaking() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.receive(.measured([.loud(track)]))
        world.send(ann, .mute(track.sid, muted: true))
        #expect(world.trace == ["patch gate 1 muted", "reply > ann", "trackMuted > ann", "speakersChanged > ann"])
        let stopped = Speaker(participant: "ann", track: track.sid, level: 0, active: false)
        #expect(world.takeEvents(ann).last == .speakersChanged([stopped]))
    }
}
