import Engine
import Testing
import Wire

struct JoiningTests {
    @Test func aNewcomerIsGreetedAndTheOthersAreTold() throws {
        var world = RoomWorld()
        world.join("ann")
        #expect(world.trace == ["hello > ann"])
        world.join("bob")
        #expect(world.trace == ["hello > bob", "participantJoined > ann"])
    }

    @Test func helloNamesTheOthersWithTheirTracks() throws {
        var world = RoomWorld(RoomSettings(metadata: "about"))
        let ann = world.join("ann")
        let track = try world.publish(ann)
        let bob = world.join("bob")
        guard case .hello(let hello) = world.news(bob).first else {
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

    @Test func aNewcomerListensOnlyAfterHello() throws {
        var world = RoomWorld()
        _ = try world.publish(world.join("ann"))
        world.join("bob")
        #expect(world.trace == ["hello > bob", "participantJoined > ann", "patch listen bob to 1"])
    }

    @Test func autoSubscribeAndCanSubscribeDecideWhatANewcomerHears() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        let picky = world.join("picky", autoSubscribe: false)
        let deaf = world.join("deaf", permission: Permission(canSubscribe: false))
        #expect(!world.hears(picky, track) && !world.hears(deaf, track))
        _ = try world.publish(picky)
        #expect(world.trace.suffix(2) == ["patch listen ann to 2", "reply > picky"])
    }

    @Test func anAgentIsAnnouncedAsOne() {
        var world = RoomWorld()
        world.join("ann")
        world.join("helper", kind: .agent)
        #expect(world.trace == ["hello > helper", "participantJoined > ann", "agentJoined > ann"])
    }

    @Test func theNewestOfTwoWithOneIdentityWins() throws {
        var world = RoomWorld()
        let old = world.join("ann")
        let bob = world.join("bob")
        _ = try world.publish(old)
        world.forgetNews()
        let new = world.join("ann")
        #expect(
            world.trace == [
                "patch unpublish 1 by ann", "bye > ann", "close duplicateIdentity ann", "trackUnpublished > bob", "participantLeft > bob",
                "hello > ann", "participantJoined > bob",
            ])
        #expect(world.news(old) == [.bye(.duplicateIdentity, retryable: false)])
        #expect(world.news(bob).contains(.participantLeft("ann", reason: .duplicateIdentity)))
        #expect(world.room.handle(of: "ann") == new)
    }

    @Test func aReplacedAgentIsNotLost() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("helper", kind: .agent)
        world.join("helper", kind: .agent)
        #expect(!world.news(ann).words.contains("agentLost"))
    }

    @Test func aFullRoomLetsOnlyAgentsAndReplacementsIn() {
        var world = RoomWorld(RoomSettings(maxParticipants: 2))
        world.join("helper", kind: .agent)
        world.join("ann")
        world.join("bob")
        #expect(world.room.admissionError(for: Admission(identity: "cid")) == .roomFull)
        #expect(world.room.admissionError(for: Admission(identity: "bob")) == nil)
        #expect(world.room.admissionError(for: Admission(identity: "other", kind: .agent)) == nil)
        // An agent's identity taken over by a person is one more person.
        #expect(world.room.admissionError(for: Admission(identity: "helper")) == .roomFull)
    }

    @Test func whoLosesTheLastPlaceOnItsWayInIsClosed() {
        var world = RoomWorld(RoomSettings(maxParticipants: 1))
        world.join("ann")
        let bob = world.join("bob")
        #expect(world.trace == ["close limit bob"])
        world.happens(.request(.refreshToken, id: 1, from: bob))
        #expect(world.effects.isEmpty)
    }

    @Test func aNewcomerLearnsHowThingsStand() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        world.ask(bob, .hold(true))
        world.happens(.administered(.muteParticipant("bob", true)))
        world.ask(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi")))
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 960)))
        world.happens(.connectionMeasured(ann, .awful))
        for _ in 0..<3 { world.happens(.measured([.loud(track)])) }
        let cid = world.join("cid")
        #expect(world.news(cid).words == ["hello", "segment", "callHeld", "callMuted", "qualityChanged", "talkStarted", "speakersChanged"])
    }

    @Test func aHiddenParticipantHearsButIsNeverHeardOf() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.forgetNews()
        let spy = world.join("spy", permission: Permission(canUpdateMetadata: true, hidden: true))
        #expect(world.hears(spy, track))
        #expect(world.ask(spy, .publish(PublishTrack()))?.code == .notAllowed)
        #expect(world.ask(spy, .updateParticipant(ParticipantUpdate(name: "x"))) == .reply(.done))
        world.ask(spy, .hold(true))
        world.happens(.connectionMeasured(spy, .awful))
        world.happens(.left(spy, .signalClose))
        #expect(world.news(ann).isEmpty)
    }

    @Test func aHiddenParticipantIsInNoListButTheAdministrators() {
        var world = RoomWorld()
        world.join("spy", permission: Permission(hidden: true))
        let ann = world.join("ann")
        guard case .hello(let hello) = world.news(ann).first else {
            Issue.record("no hello")
            return
        }
        #expect(hello.participants.isEmpty)
        #expect(world.room.participants.map(\.identity) == ["spy", "ann"])
    }

    @Test func theRoomCountsAsLiveKitDoes() throws {
        var world = RoomWorld()
        #expect(world.room.isEmpty)
        world.join("helper", kind: .agent)
        #expect(!world.room.isEmpty && world.room.participantCount == 0)
        let ann = world.join("ann")
        _ = try world.publish(ann)
        _ = try world.publish(ann)
        #expect(world.room.participantCount == 1 && world.room.publisherCount == 1 && world.room.trackCount == 2)
    }

    @Test func aSlotDoesNotJoinTwice() async {
        await #expect(processExitsWith: .failure) {
            var world = RoomWorld()
            let ann = world.join("ann")
            world.happens(.joined(ann, Admission(identity: "bob")))
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
