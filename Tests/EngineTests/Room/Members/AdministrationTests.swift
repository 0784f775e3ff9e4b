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

/// Administrative changes of one participant.
struct ParticipantCommandTests {
    @Test func profileAndPermissionChangeTogetherInOneEvent() throws {
        var world = RoomWorld()
        let ann = world.join("ann", permission: Permission(canUpdateMetadata: false), attributes: ["old": "1", "kept": "2"])
        let bob = world.join("bob")
        _ = try world.publish(ann)
        let update = ParticipantUpdate(name: "Ann A.", metadata: "m", attributes: ["old": "", "new": "3"])
        world.receive(.administered(.updateParticipant("ann", update, Permission(canPublish: false))))
        #expect(world.trace == ["patch unpublish 1 by ann", "trackUnpublished > ann bob", "participantUpdated > ann bob", "token > ann"])
        guard case .participantUpdated(let info, .connected) = world.takeEvents(bob).last else { throw Unexpected(what: "no update") }
        #expect(info.name == "Ann A." && info.metadata == "m" && info.attributes == ["kept": "2", "new": "3"])
        #expect(info.permission == Permission(canPublish: false))
        let content = try #require(world.tokens.last?.content)
        #expect(content.name == "Ann A." && content.permission == Permission(canPublish: false))
    }

    @Test func withoutPermissionItStays() {
        var world = RoomWorld()
        world.join("ann", permission: Permission(canPublish: false))
        world.receive(.administered(.updateParticipant("ann", ParticipantUpdate(name: "A"), nil)))
        #expect(world.trace == ["participantUpdated > ann", "token > ann"])
        #expect(world.room.participants.first?.permission == Permission(canPublish: false))
    }

    @Test func updateWithoutEffectCausesNoEvents() {
        var world = RoomWorld()
        world.join("ann")
        world.receive(.administered(.updateParticipant("ann", ParticipantUpdate(name: "ANN", attributes: ["never": ""]), Permission())))
        #expect(world.effects.isEmpty)
        world.receive(.administered(.updateParticipant("bob", ParticipantUpdate(name: "B"), nil)))
        #expect(world.effects.isEmpty)
    }

    @Test func oversizedUpdateIsRefusedAsAWhole() {
        var world = RoomWorld()
        world.join("ann")
        let update = ParticipantUpdate(name: "x", attributes: ["k": String(repeating: "v", count: 70_000)])
        let command = Room.AdminCommand.updateParticipant("ann", update, Permission(canPublish: false))
        let error = #expect(throws: RequestError.self) { try world.room.check(command) }
        #expect(error?.code == .limitExceeded)
        world.receive(.administered(command))
        #expect(world.effects.isEmpty && world.room.participants.first?.permission == Permission())
    }

    @Test func updateIncludesACoalescedChange() {
        var world = RoomWorld()
        let ann = world.join("ann", permission: Permission(canUpdateMetadata: true))
        let long = String(repeating: "m", count: 500_000)
        for number in 0..<5 { world.send(ann, .updateParticipant(ParticipantUpdate(metadata: "\(number)" + long))) }
        #expect(world.trace == ["reply > ann"], "the budget is used up")
        world.receive(.administered(.updateParticipant("ann", ParticipantUpdate(name: "A"), nil)))
        #expect(world.trace == ["participantUpdated > ann", "token > ann"])
        #expect(world.tokens.last?.content.metadata.hasPrefix("4") == true)
        world.pass(.seconds(60))
        #expect(!world.trace.contains("participantUpdated > ann"), "it was sent already")
    }

    @Test func hiddenParticipantStaysHidden() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("spy", permission: Permission(hidden: true))
        world.discardEvents()
        world.receive(.administered(.updateParticipant("spy", ParticipantUpdate(name: "S"), Permission())))
        #expect(world.trace == ["participantUpdated > spy", "token > spy"])
        #expect(world.takeEvents(ann).isEmpty)
    }

    @Test func subscriptionsEndAndReturn() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let (first, second) = try (world.publish(ann), world.publish(ann))
        world.receive(.administered(.subscribe("bob", [first.sid, second.sid], false)))
        #expect(world.trace == ["patch unsubscribe bob to 1", "patch unsubscribe bob to 2"])
        world.receive(.administered(.subscribe("bob", [second.sid], true)))
        #expect(world.trace == ["patch subscribe bob to 2"])
        #expect(!world.receives(bob, first) && world.receives(bob, second))
        world.receive(.administered(.subscribe("bob", [second.sid], true)))
        #expect(world.effects.isEmpty)
    }

    @Test func subscriptionOfAParticipantOnHoldTakesEffectLater() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob", autoSubscribe: false)
        let track = try world.publish(ann)
        world.send(bob, .hold(true))
        world.receive(.administered(.subscribe("bob", [track.sid], true)))
        #expect(world.effects.isEmpty)
        world.send(bob, .hold(false))
        #expect(world.receives(bob, track))
    }

    @Test func subscriptionIsRefusedForAllTracksOrNone() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob", permission: Permission(canSubscribe: false))
        let (theirs, own) = try (world.publish(ann), world.publish(bob))
        func code(_ command: Room.AdminCommand) -> RequestError.Code? {
            #expect(throws: RequestError.self) { try world.room.check(command) }?.code
        }
        #expect(code(.subscribe("bob", [theirs.sid], true)) == .notAllowed)
        #expect(code(.subscribe("bob", [own.sid], false)) == .invalidArgument)
        #expect(code(.subscribe("ann", [own.sid, TrackSID(text: "TR_none")], false)) == .notFound)
        world.receive(.administered(.subscribe("ann", [own.sid, TrackSID(text: "TR_none")], false)))
        #expect(world.effects.isEmpty && world.receives(ann, own))
        // Unsubscribing needs no grant.
        try world.room.check(.subscribe("bob", [theirs.sid], false))
    }

    @Test func dataForUnknownParticipantsReachesNobody() {
        var world = RoomWorld()
        world.join("ann")
        world.join("spy", permission: Permission(hidden: true))
        func send(to recipients: [Identity]?) {
            world.receive(.administered(.sendData(DataMessage(topic: "t", payload: .text("x"), to: recipients))))
        }
        send(to: ["bob", "cid"])
        #expect(world.effects.isEmpty)
        send(to: ["bob", "ann", "ann"])
        #expect(world.trace == ["data > ann"])
        for everybody: [Identity]? in [nil, []] {
            send(to: everybody)
            #expect(world.trace == ["data > ann spy"])
        }
    }
}
