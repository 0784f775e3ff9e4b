import Testing
import Wire

@testable import Engine

struct AdministrationTests {
    @Test func deletingARoomDisconnectsEverybody() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.discardEvents()
        world.receive(.administered(.delete))
        #expect(
            world.trace == [
                "talkStopped > ann bob", "bye > ann bob", "patch unpublish 1 by ann", "close roomClosed ann", "close roomClosed bob",
                "closed",
            ])
        #expect(world.takeEvents(bob).last == .bye(.roomDeleted, retryable: false))
        #expect(world.room.isEmpty && world.room.trackCount == 0)
    }

    @Test func removalIsReportedToEverybodyWithItsReason() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        _ = try world.publish(bob)
        world.discardEvents()
        world.receive(.administered(.remove("bob")))
        #expect(
            world.trace == [
                "patch unpublish 1 by bob", "bye > bob", "close removed bob", "trackUnpublished > ann", "participantLeft > ann",
            ])
        #expect(world.takeEvents(bob) == [.bye(.participantRemoved, retryable: false)])
        #expect(world.takeEvents(ann).last == .participantLeft("bob", reason: .participantRemoved))
    }

    @Test func commandsForUnknownTargetsAreIgnored() {
        var world = RoomWorld()
        world.join("ann")
        for command: Room.AdminCommand in [
            .remove("bob"), .mute(TrackSID(text: "TR_none"), muted: true), .updatePermission("bob", Permission(canPublish: false)),
        ] {
            world.receive(.administered(command))
            #expect(world.effects.isEmpty)
        }
    }

    @Test func roomMetadataChangeIsReportedOnce() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.receive(.administered(.updateMetadata("new")))
        #expect(world.trace == ["roomUpdated > ann"])
        guard case .roomUpdated(let info) = world.takeEvents(ann).last else { throw Unexpected(what: "no update") }
        #expect(info.metadata == "new" && info == world.room.info)
        world.receive(.administered(.updateMetadata("new")))
        #expect(world.effects.isEmpty)
        world.receive(.administered(.updateMetadata("")))
        #expect(world.room.info.metadata == "")
    }

    @Test func revokedPublishGrantUnpublishesTracks() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        let track = try world.publish(ann)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.receive(.measured([.loud(track)]))
        world.receive(.administered(.updatePermission("ann", Permission(canPublish: false))))
        #expect(
            world.trace == [
                "patch unpublish 1 by ann", "talkStopped > ann bob", "trackUnpublished > ann bob", "speakersChanged > ann bob",
                "participantUpdated > ann bob", "token > ann",
            ])
        #expect(world.tokens.last?.content.permission == Permission(canPublish: false))
        #expect(world.send(ann, .publish(PublishTrack()))?.code == .notAllowed)
    }

    @Test func onlyTracksOfForbiddenSourcesAreUnpublished() throws {
        var world = RoomWorld()
        let helper = world.join("helper", kind: .agent)
        _ = try world.publish(helper)
        let voice = try world.publish(helper, PublishTrack(source: .assistant))
        world.receive(.administered(.updatePermission("helper", Permission(canPublishSources: ["assistant"]))))
        #expect(world.room.participants.first?.tracks == [voice])
    }

    @Test func subscriptionsReturnWithTheGrant() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let wanted = try world.publish(ann)
        let unwanted = try world.publish(ann)
        world.send(bob, .subscribe(unwanted.sid, subscribed: false))
        world.receive(.administered(.updatePermission("bob", Permission(canSubscribe: false))))
        #expect(world.trace == ["patch unsubscribe bob to 1", "participantUpdated > ann bob", "token > bob"])
        world.receive(.administered(.updatePermission("bob", Permission())))
        #expect(world.receives(bob, wanted) && !world.receives(bob, unwanted))
    }

    @Test func unchangedPermissionCausesNoEvents() {
        var world = RoomWorld()
        world.join("ann")
        world.receive(.administered(.updatePermission("ann", Permission())))
        #expect(world.effects.isEmpty)
    }

    @Test func hiddenCannotChangeAfterTheJoin() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("spy", permission: Permission(hidden: true))
        world.discardEvents()
        world.receive(.administered(.updatePermission("ann", Permission(hidden: true))))
        #expect(world.effects.isEmpty)
        world.receive(.administered(.updatePermission("spy", Permission(canSubscribe: false))))
        #expect(world.trace == ["participantUpdated > spy", "token > spy"])
        #expect(world.takeEvents(ann).isEmpty)
        #expect(world.room.participants.map(\.permission.hidden) == [false, true])
    }
}
