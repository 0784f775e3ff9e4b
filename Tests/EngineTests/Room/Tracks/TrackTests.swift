import Testing
import Wire

@testable import Engine

struct TrackTests {
    @Test func publishOrdersPatchEventAndReply() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        world.join("cid")
        let track = try world.publish(ann, PublishTrack(name: "voice", frameMs: 60, dtx: true, fec: true, channels: 2))
        #expect(
            world.trace == [
                "patch publish 1 by ann", "trackPublished > bob cid", "patch subscribe bob to 1", "patch subscribe cid to 1", "reply > ann",
            ])
        #expect(track.alias == TrackAlias(1) && track.sid.text.hasPrefix("TR_AM") && track.participant == "ann")
        #expect(track.name == "voice" && track.frameMs == 60 && track.dtx && track.fec && track.channels == 2 && !track.muted)
    }

    @Test func trackCanBePublishedAhead() throws {
        var world = RoomWorld()
        #expect(try world.publish(world.join("ann"), PublishTrack(mode: .ahead, frameMs: 60)).mode == .ahead)
    }

    @Test(arguments: [
        (PublishTrack(codec: "vp8"), RequestError.Code.unsupported),
        (PublishTrack(frameMs: 15), .invalidArgument), (PublishTrack(channels: 0), .invalidArgument),
        (PublishTrack(channels: 3), .invalidArgument), (PublishTrack(name: String(repeating: "n", count: 257)), .limitExceeded),
    ])
    func unsupportedTracksAreRejected(description: PublishTrack, code: RequestError.Code) {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.send(ann, .publish(description))?.code == code)
        #expect(world.trace.count == 1 && world.room.trackCount == 0)
    }

    @Test(arguments: [2.5, 5, 10, 20, 40, 60, 80, 100, 120])
    func everyOpusPacketDurationIsAccepted(milliseconds: Double) throws {
        var world = RoomWorld()
        #expect(try world.publish(world.join("ann"), PublishTrack(frameMs: milliseconds)).frameMs == milliseconds)
    }

    @Test(arguments: [
        ([String](), true, true), (["microphone"], true, true), (["assistant"], false, true), (["camera"], false, false),
    ])
    func grantedSourcesFollowLiveKit(sources: [String], microphone: Bool, assistant: Bool) {
        var world = RoomWorld()
        let ann = world.join("ann", permission: Permission(canPublishSources: sources))
        #expect((world.send(ann, .publish(PublishTrack(source: .microphone)))?.code == .notAllowed) == !microphone)
        #expect((world.send(ann, .publish(PublishTrack(source: .assistant)))?.code == .notAllowed) == !assistant)
    }

    @Test func publishingRequiresTheGrant() {
        var world = RoomWorld()
        let ann = world.join("ann", permission: Permission(canPublish: false))
        #expect(world.send(ann, .publish(PublishTrack()))?.code == .notAllowed)
    }

    @Test func tracksPerParticipantAreLimited() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let first = try world.publish(ann)
        for _ in 1..<20 { _ = try world.publish(ann) }
        #expect(world.send(ann, .publish(PublishTrack()))?.code == .limitExceeded)
        world.send(ann, .unpublish(first.sid))
        _ = try world.publish(ann)
    }

    @Test func unpublishingIsReportedToEverybody() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        let track = try world.publish(ann)
        #expect(world.send(ann, .unpublish(track.sid)) == .reply(.done))
        #expect(world.trace == ["patch unpublish 1 by ann", "reply > ann", "trackUnpublished > ann bob"])
        #expect(world.send(ann, .unpublish(track.sid))?.code == .notFound)
    }

    @Test func onlyThePublisherUnpublishes() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        let bob = world.join("bob", isRoomAdmin: true)
        #expect(world.send(bob, .unpublish(track.sid))?.code == .notAllowed)
    }

    @Test func requestWithoutAnIDGetsNoReply() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.receive(.request(.publish(PublishTrack()), id: nil, from: ann))
        #expect(world.trace == ["patch publish 1 by ann"])
        world.receive(.request(.publish(PublishTrack(codec: "vp8")), id: nil, from: ann))
        #expect(world.trace == ["reject unsupported > ann"])
    }
}

struct MutingTests {
    @Test func muteClosesTheGateAndIsReportedOnce() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        #expect(world.send(ann, .mute(track.sid, muted: true)) == .reply(.done))
        #expect(world.trace == ["patch gate 1 muted", "reply > ann", "trackMuted > ann bob"])
        #expect(!world.receives(bob, track))
        world.send(ann, .mute(track.sid, muted: true))
        #expect(world.trace == ["reply > ann"])
        world.send(ann, .mute(track.sid, muted: false))
        #expect(world.trace == ["patch gate 1 open", "reply > ann", "trackUnmuted > ann bob"])
        #expect(world.receives(bob, track))
    }

    @Test func muteEndsATalkspurtAtTheElapsedTime() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 1_000)))
        world.pass(.seconds(2))
        world.send(ann, .mute(track.sid, muted: true))
        #expect(world.takeEvents(ann).suffix(2).first == .talkStopped("ann", track.sid, at: MediaTime(ticks: 97_000), reason: .muted))
    }

    @Test func onlyRoomAdminsMuteOthersAndNobodyUnmutesThem() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let boss = world.join("boss", isRoomAdmin: true)
        let track = try world.publish(ann)
        #expect(world.send(bob, .mute(track.sid, muted: true))?.code == .notAllowed)
        #expect(world.send(boss, .mute(track.sid, muted: true)) == .reply(.done))
        guard case .rejected(let error) = world.send(boss, .mute(track.sid, muted: false)) else {
            Issue.record("unmuted from afar")
            return
        }
        #expect(error.code == .notAllowed && error.message == "remote unmute not enabled")
        #expect(world.send(ann, .mute(track.sid, muted: false)) == .reply(.done))
    }

    @Test func unknownTrackIsNotFound() {
        var world = RoomWorld()
        #expect(world.send(world.join("ann"), .mute(TrackSID(text: "TR_none"), muted: true))?.code == .notFound)
    }

    @Test func newcomerSeesMutedTracks() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.send(ann, .mute(track.sid, muted: true))
        let bob = world.join("bob")
        guard case .hello(let hello) = world.takeEvents(bob).first else { throw Unexpected(what: "no hello") }
        #expect(hello.participants.first?.tracks?.first?.muted == true)
    }
}
