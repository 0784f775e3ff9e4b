import Engine
import Testing
import Wire

extension MutingTests {
    @Test func anAdministratorMutesByCommandAndOnlyOnce() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        world.happens(.administered(.mute(track.sid, muted: true)))
        #expect(world.trace == ["patch gate 1 muted", "trackMuted > ann bob"])
        #expect(!world.hears(bob, track))
        world.happens(.administered(.mute(track.sid, muted: true)))
        #expect(world.effects.isEmpty)
        world.happens(.administered(.mute(TrackSID(text: "TR_none"), muted: true)))
        #expect(world.effects.isEmpty)
    }

    @Test func beingRoomAdminDoesNotOpenAnothersMicrophoneEvenIfItIsOpen() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        let boss = world.join("boss", isRoomAdmin: true)
        #expect(world.ask(boss, .mute(track.sid, muted: false))?.code == .notAllowed)
        #expect(world.trace == ["refuse not_allowed > boss"])
    }

    @Test func unmutingWhatIsOpenSaysNothing() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        let track = try world.publish(ann)
        #expect(world.ask(ann, .mute(track.sid, muted: false)) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
    }

    @Test func aTalkspurtThatMutingEndedIsNotEndedAgain() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.ask(ann, .mute(track.sid, muted: true))
        #expect(world.trace == ["patch gate 1 muted", "reply > ann", "talkStopped > ann", "trackMuted > ann"])
        world.happens(.talkStopped(track.sid, at: MediaTime(ticks: 960), .end))
        #expect(world.effects.isEmpty)
    }

    @Test func whatIsMutedDoesNotTalkUntilItIsUnmuted() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.ask(ann, .mute(track.sid, muted: true))
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.happens(.measured([.loud(track)]))
        #expect(world.effects.isEmpty)
        world.ask(ann, .mute(track.sid, muted: false))
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 48)))
        #expect(world.trace == ["talkStarted > ann"])
    }

    @Test func whoIsMutedSpeaksNoMore() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.happens(.measured([.loud(track)]))
        world.ask(ann, .mute(track.sid, muted: true))
        #expect(world.trace == ["patch gate 1 muted", "reply > ann", "trackMuted > ann", "speakersChanged > ann"])
        let stopped = Speaker(participant: "ann", track: track.sid, level: 0, active: false)
        #expect(world.news(ann).last == .speakersChanged([stopped]))
    }
}
