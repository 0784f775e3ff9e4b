import PatchbayClient
import Testing
import Wire

/// A room that continues on another node of a cluster, which may have lost the latest events and requests.
@Suite(.timeLimit(.minutes(1)))
struct MovedRoomTests {
    private static let (me, bob, carol, dave) = (
        Identity(text: "me"), Identity(text: "bob"), Identity(text: "carol"), Identity(text: "dave")
    )

    private static func participant(_ identity: Identity, _ tracks: [TrackInfo] = []) -> ParticipantInfo {
        ParticipantInfo(
            sid: ParticipantSID(text: "PA_" + identity.text), identity: identity, name: "", kind: .standard, metadata: "", attributes: [:],
            permission: Permission(), joinedAt: 0, tracks: tracks)
    }

    private static func track(_ sid: String, alias: UInt16, of identity: Identity, muted: Bool = false, epoch: UInt8 = 0) -> TrackInfo {
        TrackInfo(
            sid: TrackSID(text: sid), alias: TrackAlias(alias), participant: identity, description: PublishTrack(mode: .ahead),
            muted: muted, epoch: epoch)
    }

    private static func hello(_ others: [ParticipantInfo] = [], own: [TrackInfo] = [], isMoved: Bool = true) -> Event {
        .hello(
            Hello(
                server: ServerInfo(version: "1", node: "n"),
                room: RoomInfo(sid: RoomSID(text: "RM_1"), name: "lobby", metadata: "", createdAt: 0, maxParticipants: 0),
                participant: participant(me, own), participants: others, sessionId: nil, resumeToken: isMoved ? "RT_2" : "RT_1",
                resumed: isMoved ? true : nil, snapshot: isMoved ? true : nil))
    }

    private static func cleared(_ sid: String, epoch: UInt8) -> Event {
        let heard = HeardPosition(playedTs: nil, playedMs: 0, isEstimated: false)
        return .playoutCleared(
            ClearedPlayout(track: TrackSID(text: sid), epoch: epoch, heard: heard, discardedMs: 0, reason: "node_lost"),
            by: Identity(text: ""))
    }

    private func join(_ room: ScriptedRoom) async throws -> RoomConnection {
        let options = RoomOptions(trust: .authority(path: try TestCertificates.shared.get().authority))
        return try await RoomConnection.connect(url: room.url, token: "t", options: options)
    }

    private func send(on track: LocalTrack) throws {
        try track.send([0xF8, 0xFF, 0xFE], level: AudioLevelByte(voice: false, level: 60))
    }

    @Test func clientReturnsAtOnce() async throws {
        let room = try ScriptedRoom([[Self.hello(isMoved: false)], [Self.hello()]])
        let client = try await join(room)
        room.close(.moved)
        let delay = try await client.first { event -> Duration? in
            guard case .reconnecting(1, let delay, .closed(.moved)) = event else { return nil }
            return delay
        }
        #expect(delay == .zero)
        _ = try await client.first { if case .reconnected = $0 { true } else { nil } }
        #expect(client.hello.snapshot == true && room.current.connections == 2)
        await client.leave()
    }

    @Test func snapshotReplacesParticipantsAndTracks() async throws {
        let before = [
            Self.participant(Self.bob, [Self.track("TR_1", alias: 1, of: Self.bob), Self.track("TR_2", alias: 2, of: Self.bob)]),
            Self.participant(Self.carol, [Self.track("TR_3", alias: 3, of: Self.carol)]),
        ]
        let after = [
            Self.participant(
                Self.bob, [Self.track("TR_1", alias: 1, of: Self.bob, muted: true), Self.track("TR_4", alias: 4, of: Self.bob)]),
            Self.participant(Self.dave),
        ]
        let room = try ScriptedRoom([[Self.hello(before, isMoved: false)], [Self.hello(after), .callHeld(by: Self.bob)]])
        let client = try await join(room)
        let ended = client.frames(of: TrackSID(text: "TR_2"))
        let words = Task { try await client.words(until: "callHeld") }
        room.close(.moved)
        let told = try await words.value
        #expect(
            told == [
                "hello", "reconnecting 1", "trackUnpublished", "participantLeft", "trackUnpublished", "trackMuted", "trackPublished",
                "participantJoined", "hello", "reconnected", "callHeld",
            ])
        #expect(client.participants == after)
        // The stream of a track that is gone ends.
        for await _ in ended {}
        #expect(client.hello.resumed == true)
        await client.leave()
    }

    @Test func ownTrackContinuesInTheEpochOfTheOtherNode() async throws {
        let room = try ScriptedRoom([
            [Self.hello(isMoved: false)],
            [Self.cleared("TR_own1", epoch: 2), Self.hello(own: [Self.track("TR_own1", alias: 1, of: Self.me, epoch: 2)])],
            // This time the event is missing.
            [Self.hello(own: [Self.track("TR_own1", alias: 1, of: Self.me, epoch: 5)])],
        ])
        let client = try await join(room)
        let voice = try await client.publish(name: "voice", source: .assistant, mode: .ahead)
        for (index, epoch) in [2, 5].enumerated() {
            room.close(.moved)
            try await client.hasReconnected(UInt64(index + 1))
            try send(on: voice)
            try await until { room.current.frames.count > index }
            #expect(room.current.frames.last.map { Int($0.epoch) } == epoch)
        }
        #expect(voice.sid.text == "TR_own1")
        await client.leave()
    }

    @Test func requestsThatTheOtherNodeDoesNotKnowAreRepeated() async throws {
        let room = try ScriptedRoom([
            [Self.hello(isMoved: false)], [Self.hello(own: [Self.track("TR_other", alias: 9, of: Self.me)])],
        ])
        let client = try await join(room)
        let voice = try await client.publish(name: "voice")
        try await client.hold(true)
        try await client.setAgentState(.speaking)
        room.close(.moved)
        let before = try await client.first { if case .trackRepublished(_, let before) = $0 { before } else { nil } }
        #expect(before.text == "TR_own1" && voice.sid.text == "TR_own2")
        // The client repeats the state last.
        try await until { room.current.requests.count { $0 == .agentState(.speaking) } == 2 }
        let requests = room.current.requests
        #expect(requests.count { $0 == .hold(true) } == 2)
        #expect(requests.contains(.unpublish(TrackSID(text: "TR_other"))), "its caller has received an error")
        try send(on: voice)
        try await until { room.current.frames.last?.alias == TrackAlias(2) }
        await client.leave()
    }

    @Test func holdThatSomebodyElseHasEndedIsNotRepeated() async throws {
        let room = try ScriptedRoom([[Self.hello(isMoved: false)], [.callResumed(by: Self.me), Self.hello()]])
        let client = try await join(room)
        try await client.hold(true)
        room.close(.moved)
        try await client.hasReconnected(1)
        try await client.setAgentState(.listening)
        #expect(room.current.requests.count { $0 == .hold(true) } == 1)
        await client.leave()
    }
}
