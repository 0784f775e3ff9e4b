import Engine
import Testing
import Wire

struct AdministrationTests {
    @Test func deletingARoomEndsAllThatIsInIt() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.forgetNews()
        world.happens(.administered(.delete))
        #expect(
            world.trace == [
                "talkStopped > ann bob", "bye > ann bob", "patch unpublish 1 by ann", "close roomClosed ann", "close roomClosed bob",
                "closed",
            ])
        #expect(world.news(bob).last == .bye(.roomDeleted, retryable: false))
        #expect(world.room.isEmpty && world.room.trackCount == 0)
    }

    @Test func whoIsRemovedIsToldWhyAndSoAreTheOthers() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        _ = try world.publish(bob)
        world.forgetNews()
        world.happens(.administered(.remove("bob")))
        #expect(
            world.trace == [
                "patch unpublish 1 by bob", "bye > bob", "close removed bob", "trackUnpublished > ann", "participantLeft > ann",
            ])
        #expect(world.news(bob) == [.bye(.participantRemoved, retryable: false)])
        #expect(world.news(ann).last == .participantLeft("bob", reason: .participantRemoved))
    }

    @Test func whatIsNotThereIsLeftAlone() {
        var world = RoomWorld()
        world.join("ann")
        for command: Room.AdminCommand in [
            .remove("bob"), .mute(TrackSID(text: "TR_none"), muted: true), .updatePermission("bob", Permission(canPublish: false)),
        ] {
            world.happens(.administered(command))
            #expect(world.effects.isEmpty)
        }
    }

    @Test func newMetadataOfTheRoomIsToldOnce() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.happens(.administered(.updateMetadata("new")))
        #expect(world.trace == ["roomUpdated > ann"])
        guard case .roomUpdated(let info) = world.news(ann).last else { throw Unexpected(what: "no update") }
        #expect(info.metadata == "new" && info == world.room.info)
        world.happens(.administered(.updateMetadata("new")))
        #expect(world.effects.isEmpty)
        world.happens(.administered(.updateMetadata("")))
        #expect(world.room.info.metadata == "")
    }

    @Test func whoMayNoLongerPublishPublishesNoLonger() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        let track = try world.publish(ann)
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.happens(.measured([.loud(track)]))
        world.happens(.administered(.updatePermission("ann", Permission(canPublish: false))))
        #expect(
            world.trace == [
                "patch unpublish 1 by ann", "talkStopped > ann bob", "trackUnpublished > ann bob", "speakersChanged > ann bob",
                "participantUpdated > ann bob", "token > ann",
            ])
        #expect(world.tokens.last?.content.permission == Permission(canPublish: false))
        #expect(world.ask(ann, .publish(PublishTrack()))?.code == .notAllowed)
    }

    @Test func onlyTracksOfForbiddenSourcesGo() throws {
        var world = RoomWorld()
        let helper = world.join("helper", kind: .agent)
        _ = try world.publish(helper)
        let voice = try world.publish(helper, PublishTrack(source: .assistant))
        world.happens(.administered(.updatePermission("helper", Permission(canPublishSources: ["assistant"]))))
        #expect(world.room.participants.first?.tracks == [voice])
    }

    @Test func whatWasSubscribedComesBackWithTheGrant() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let wanted = try world.publish(ann)
        let unwanted = try world.publish(ann)
        world.ask(bob, .subscribe(unwanted.sid, subscribed: false))
        world.happens(.administered(.updatePermission("bob", Permission(canSubscribe: false))))
        #expect(world.trace == ["patch stop bob to 1", "participantUpdated > ann bob", "token > bob"])
        world.happens(.administered(.updatePermission("bob", Permission())))
        #expect(world.hears(bob, wanted) && !world.hears(bob, unwanted))
    }

    @Test func aPermissionThatIsNoOtherSaysNothing() {
        var world = RoomWorld()
        world.join("ann")
        world.happens(.administered(.updatePermission("ann", Permission())))
        #expect(world.effects.isEmpty)
    }

    @Test func nobodyIsHiddenOrRevealedAfterwards() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("spy", permission: Permission(hidden: true))
        world.forgetNews()
        world.happens(.administered(.updatePermission("ann", Permission(hidden: true))))
        #expect(world.effects.isEmpty)
        world.happens(.administered(.updatePermission("spy", Permission(canSubscribe: false))))
        #expect(world.trace == ["participantUpdated > spy", "token > spy"])
        #expect(world.news(ann).isEmpty)
        #expect(world.room.participants.map(\.permission.hidden) == [false, true])
    }
}
