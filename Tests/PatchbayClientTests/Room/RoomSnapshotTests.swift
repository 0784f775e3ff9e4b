import Testing
import Wire

@testable import PatchbayClient

struct RoomSnapshotTests {
    private var snapshot = RoomSnapshot(
        Hello(
            server: ServerInfo(version: "1", node: "n"),
            room: RoomInfo(sid: RoomSID(text: "RM_1"), name: "lobby", metadata: "", createdAt: 0, maxParticipants: 0),
            participant: info("me"),
            participants: [info("bob", tracks: [track("TR_b", of: "bob")])], sessionId: nil, resumeToken: ""))

    private static func info(_ identity: String, name: String = "", tracks: [TrackInfo]? = nil) -> ParticipantInfo {
        ParticipantInfo(
            sid: ParticipantSID(text: "PA_\(identity)"), identity: Identity(text: identity), name: name, kind: .standard, metadata: "",
            attributes: [:], permission: Permission(), joinedAt: 0, tracks: tracks)
    }

    private static func track(_ sid: String, of identity: String) -> TrackInfo {
        TrackInfo(sid: TrackSID(text: sid), alias: TrackAlias(1), participant: Identity(text: identity), description: PublishTrack())
    }

    private var who: [String] { snapshot.participants.map(\.identity.text) }

    @Test mutating func participantsJoinAndLeave() {
        snapshot.apply(.participantJoined(Self.info("carol")))
        #expect(who == ["bob", "carol"])
        snapshot.apply(.participantLeft(Identity(text: "bob"), reason: .clientInitiated))
        #expect(who == ["carol"])
        #expect(snapshot.tracks.isEmpty)
    }

    @Test mutating func tracksArePublishedMutedAndUnpublished() {
        snapshot.apply(.trackPublished(Self.track("TR_2", of: "bob")))
        #expect(snapshot.tracks.map(\.sid.text) == ["TR_b", "TR_2"])
        snapshot.apply(.trackMuted(TrackSID(text: "TR_2"), of: Identity(text: "bob")))
        #expect(snapshot.tracks.map(\.muted) == [false, true])
        snapshot.apply(.trackUnmuted(TrackSID(text: "TR_2"), of: Identity(text: "bob")))
        snapshot.apply(.trackUnpublished(TrackSID(text: "TR_b"), of: Identity(text: "bob")))
        #expect(snapshot.tracks.map(\.muted) == [false])
        snapshot.apply(.trackPublished(Self.track("TR_m", of: "me")))
        #expect(snapshot.local.tracks?.count == 1)
    }

    @Test mutating func updateWithoutTracksKeepsThem() {
        snapshot.apply(.participantUpdated(Self.info("bob", name: "Bob"), connection: .connected))
        #expect(snapshot.participants.first?.name == "Bob")
        #expect(snapshot.tracks.count == 1)
        snapshot.apply(.participantUpdated(Self.info("me", name: "I"), connection: .connected))
        #expect(snapshot.local.name == "I")
        #expect(who == ["bob"])
    }
}
