import Testing
import Wire

@testable import Engine

struct JoiningTests {
    @Test func joinSendsHelloAndAnnouncesTheParticipant() throws {
        var world = RoomWorld()
        world.join("ann")
        #expect(world.trace == ["hello > ann"])
        world.join("bob")
        #expect(world.trace == ["hello > bob", "participantJoined > ann"])
    }

    @Test func helloListsParticipantsWithTheirTracks() throws {
        var world = RoomWorld(RoomSettings(metadata: "about"))
        let ann = world.join("ann")
        let track = try world.publish(ann)
        let bob = world.join("bob")
        guard case .hello(let hello) = world.takeEvents(bob).first else {
            Issue.record("no hello")
            return
        }
        let room = RoomInfo(sid: RoomSID(text: "RM_den"), name: "den", metadata: "about", createdAt: 1_700_000_000, maxParticipants: 0)
        #expect(hello.room == room)
        #expect(hello.participant.identity == "bob" && hello.participant.sid.text.hasPrefix("PA_"))
        #expect(hello.participants.map(\.identity) == ["ann"])
        #expect(hello.participants.first?.tracks == [track])
        #expect(hello.sessionId == "session-bob" && hello.resumeToken == "resume-bob")
    }

    @Test func subscriptionsOfANewcomerFollowHello() throws {
        var world = RoomWorld()
        _ = try world.publish(world.join("ann"))
        world.join("bob")
        #expect(world.trace == ["hello > bob", "participantJoined > ann", "patch subscribe bob to 1"])
    }

    @Test func autoSubscribeAndCanSubscribeDetermineSubscriptions() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        let picky = world.join("picky", autoSubscribe: false)
        let deaf = world.join("deaf", permission: Permission(canSubscribe: false))
        #expect(!world.receives(picky, track) && !world.receives(deaf, track))
        _ = try world.publish(picky)
        #expect(world.trace.suffix(2) == ["patch subscribe ann to 2", "reply > picky"])
    }

    @Test func joiningAgentIsAnnouncedAsAgent() {
        var world = RoomWorld()
        world.join("ann")
        world.join("helper", kind: .agent)
        #expect(world.trace == ["hello > helper", "participantJoined > ann", "agentJoined > ann"])
    }

    @Test func newestParticipantOfAnIdentityReplacesTheOther() throws {
        var world = RoomWorld()
        let old = world.join("ann")
        let bob = world.join("bob")
        _ = try world.publish(old)
        world.discardEvents()
        let new = world.join("ann")
        #expect(
            world.trace == [
                "patch unpublish 1 by ann", "bye > ann", "close duplicateIdentity ann", "trackUnpublished > bob", "participantLeft > bob",
                "hello > ann", "participantJoined > bob",
            ])
        #expect(world.takeEvents(old) == [.bye(.duplicateIdentity, retryable: false)])
        #expect(world.takeEvents(bob).contains(.participantLeft("ann", reason: .duplicateIdentity)))
        #expect(world.room.handle(of: "ann") == new)
    }

    @Test func replacedAgentIsNotReportedAsLost() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("helper", kind: .agent)
        world.join("helper", kind: .agent)
        #expect(!world.takeEvents(ann).words.contains("agentLost"))
    }

    @Test func fullRoomAdmitsOnlyAgentsAndReplacements() {
        var world = RoomWorld(RoomSettings(maxParticipants: 2))
        world.join("helper", kind: .agent)
        world.join("ann")
        world.join("bob")
        #expect(world.room.admissionError(for: Admission(identity: "cid")) == .roomFull)
        #expect(world.room.admissionError(for: Admission(identity: "bob")) == nil)
        #expect(world.room.admissionError(for: Admission(identity: "other", kind: .agent)) == nil)
        // A standard participant that replaces an agent counts as one more.
        #expect(world.room.admissionError(for: Admission(identity: "helper")) == .roomFull)
    }

    @Test func joinThatLosesTheLastSlotIsClosed() {
        var world = RoomWorld(RoomSettings(maxParticipants: 1))
        world.join("ann")
        let bob = world.join("bob")
        #expect(world.trace == ["close limit bob"])
        world.receive(.request(.refreshToken, id: 1, from: bob))
        #expect(world.effects.isEmpty)
    }

    @Test func newcomerReceivesTheCurrentState() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        world.send(bob, .hold(true))
        world.receive(.administered(.muteParticipant("bob", true)))
        world.send(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi")))
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 960)))
        world.receive(.connectionMeasured(ann, .awful))
        for _ in 0..<3 { world.receive(.measured([.loud(track)])) }
        let cid = world.join("cid")
        #expect(
            world.takeEvents(cid).words == [
                "hello", "segment", "callHeld", "callMuted", "qualityChanged", "talkStarted", "speakersChanged",
            ])
    }

    @Test func hiddenParticipantReceivesButIsNeverAnnounced() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.discardEvents()
        let spy = world.join("spy", permission: Permission(canUpdateMetadata: true, hidden: true))
        #expect(world.receives(spy, track))
        #expect(world.send(spy, .publish(PublishTrack()))?.code == .notAllowed)
        #expect(world.send(spy, .updateParticipant(ParticipantUpdate(name: "x"))) == .reply(.done))
        world.send(spy, .hold(true))
        world.receive(.connectionMeasured(spy, .awful))
        world.receive(.left(spy, .signalClose))
        #expect(world.takeEvents(ann).isEmpty)
    }

    @Test func hiddenParticipantIsListedOnlyForAdministrators() {
        var world = RoomWorld()
        world.join("spy", permission: Permission(hidden: true))
        let ann = world.join("ann")
        guard case .hello(let hello) = world.takeEvents(ann).first else {
            Issue.record("no hello")
            return
        }
        #expect(hello.participants.isEmpty)
        #expect(world.room.participants.map(\.identity) == ["spy", "ann"])
    }

    @Test func countsFollowLiveKit() throws {
        var world = RoomWorld()
        #expect(world.room.isEmpty)
        world.join("helper", kind: .agent)
        #expect(!world.room.isEmpty && world.room.participantCount == 0)
        let ann = world.join("ann")
        _ = try world.publish(ann)
        _ = try world.publish(ann)
        #expect(world.room.participantCount == 1 && world.room.publisherCount == 1 && world.room.trackCount == 2)
    }

    @Test func joiningTwiceWithOneHandleTraps() async {
        await #expect(processExitsWith: .failure) {
            var world = RoomWorld()
            let ann = world.join("ann")
            world.receive(.joined(ann, Admission(identity: "bob")))
        }
    }
}

extension ConnectionMeasurement {
    static let awful = ConnectionMeasurement(roundTrip: .milliseconds(900), jitter: .milliseconds(90), lossPercent: 20, isSilent: false)
    static let perfect = ConnectionMeasurement(roundTrip: .milliseconds(20), jitter: .zero, lossPercent: 0, isSilent: false)
}

extension TrackMeasurement {
    static func loud(_ track: TrackInfo, level: Int = 10) -> TrackMeasurement {
        TrackMeasurement(track: track.sid, windowMilliseconds: 400, activeMilliseconds: 400, loudestLevel: level)
    }

    static func quiet(_ track: TrackInfo) -> TrackMeasurement {
        TrackMeasurement(track: track.sid, windowMilliseconds: 400, activeMilliseconds: 0, loudestLevel: 90)
    }
}
