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

    @Test mutating func changesLeadToTheLaterState() {
        snapshot.apply(.participantJoined(Self.info("carol", tracks: [Self.track("TR_c", of: "carol")])))
        snapshot.apply(.participantJoined(Self.info("dave", tracks: [Self.track("TR_d1", of: "dave"), Self.track("TR_d2", of: "dave")])))
        var later = snapshot
        later.room.metadata = "new"
        later.local.name = "I"
        later.participants = [
            Self.info("bob", name: "Bob", tracks: [Self.track("TR_b", of: "bob"), Self.track("TR_b2", of: "bob")]),
            Self.info("dave", tracks: [Self.track("TR_d2", of: "dave")]), Self.info("eve", tracks: [Self.track("TR_e", of: "eve")]),
        ]
        later.participants[0].tracks?[0].muted = true
        let changes = snapshot.changes(to: later)
        #expect(
            changes == [
                .trackUnpublished(TrackSID(text: "TR_c"), of: Identity(text: "carol")),
                .participantLeft(Identity(text: "carol"), reason: .unknown), .roomUpdated(later.room),
                .participantUpdated(Self.info("me", name: "I"), connection: .connected),
                .participantUpdated(Self.info("bob", name: "Bob"), connection: .connected),
                .trackMuted(TrackSID(text: "TR_b"), of: Identity(text: "bob")), .trackPublished(Self.track("TR_b2", of: "bob")),
                .trackUnpublished(TrackSID(text: "TR_d1"), of: Identity(text: "dave")), .participantJoined(later.participants[2]),
            ])
        for change in changes { snapshot.apply(change) }
        #expect(snapshot == later && snapshot.changes(to: later).isEmpty)
    }

    @Test func newcomerWithAnEarlierIdentityIsAnotherParticipant() {
        var later = snapshot
        later.participants[0].sid = ParticipantSID(text: "PA_2")
        later.participants[0].tracks = nil
        #expect(
            snapshot.changes(to: later) == [
                .trackUnpublished(TrackSID(text: "TR_b"), of: Identity(text: "bob")),
                .participantLeft(Identity(text: "bob"), reason: .unknown), .participantJoined(later.participants[0]),
            ])
    }

    @Test func ownTracksAreComparedOnlyForMutes() {
        var (before, later) = (snapshot, snapshot)
        before.local.tracks = [Self.track("TR_1", of: "me"), Self.track("TR_2", of: "me")]
        later.local.tracks = [Self.track("TR_2", of: "me"), Self.track("TR_3", of: "me")]
        later.local.tracks?[0].muted = true
        #expect(before.changes(to: later) == [.trackMuted(TrackSID(text: "TR_2"), of: Identity(text: "me"))])
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
