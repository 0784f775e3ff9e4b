import HTTPServer
import PatchbayClient
import Sockets
import Testing
import Wire

/// A cluster without a load balancer: a client resumes at another node when its own is gone.
@Suite(.timeLimit(.minutes(1)))
struct OtherNodeTests {
    private static func hello(nodes: [String]? = nil, resumed: Bool? = nil) -> Event {
        let me = ParticipantInfo(
            sid: ParticipantSID(text: "PA_me"), identity: Identity(text: "me"), name: "", kind: .standard, metadata: "", attributes: [:],
            permission: Permission(), joinedAt: 0, tracks: [])
        return .hello(
            Hello(
                server: ServerInfo(version: "1", node: "n"),
                room: RoomInfo(sid: RoomSID(text: "RM_1"), name: "lobby", metadata: "", createdAt: 0, maxParticipants: 0),
                participant: me, participants: [], sessionId: nil, resumeToken: "RT_1", resumed: resumed, snapshot: resumed, nodes: nodes))
    }

    private func join(_ room: ScriptedRoom) async throws -> RoomConnection {
        let options = RoomOptions(trust: .authority(path: try TestCertificates.shared.get().authority))
        return try await RoomConnection.connect(url: room.url, token: "t", options: options)
    }

    @Test func sessionIsResumedAtTheOtherNodeAndStaysThere() async throws {
        let other = try ScriptedRoom([[Self.hello(resumed: true)], [Self.hello(resumed: true)]])
        let first = try ScriptedRoom([[Self.hello(nodes: [other.url])]])
        let client = try await join(first)
        first.stop()
        try await client.hasReconnected(1)
        #expect(client.hello.resumed == true && other.current.connections == 1)
        other.close(.moved)
        let words = try await client.words(until: "reconnected")
        #expect(words.filter { $0.hasPrefix("reconnecting") } == ["reconnecting 1", "reconnecting 2"])
        try await client.hasReconnected(2)
        #expect(other.current.connections == 2)
        await client.leave()
    }

    @Test func lostNodeIsTriedFirst() async throws {
        let other = try ScriptedRoom([])
        let first = try ScriptedRoom([[Self.hello(nodes: [other.url])], [Self.hello(nodes: [other.url], resumed: true)]])
        let client = try await join(first)
        client.dropConnection()
        try await client.hasReconnected(1)
        #expect(first.current.connections == 2 && other.current.connections == 0)
        await client.leave()
    }

    @Test func nodeWithoutATrustedCertificateIsPassedOver() async throws {
        let other = try ScriptedRoom([[Self.hello(resumed: true)]])
        let unnamed = try ScriptedRoom([], host: "127.0.0.2")
        let first = try ScriptedRoom([[Self.hello(nodes: [unnamed.url, other.url])]])
        let client = try await join(first)
        first.stop()
        let kinds = try await client.failures(until: 3)
        #expect(kinds.last == .untrusted)
        try await client.hasReconnected(1)
        #expect(other.current.connections == 1 && unnamed.current.connections == 0)
        await client.leave()
    }

    @Test func refusalByTheOtherNodeEndsTheRoom() async throws {
        let other = try ScriptedRoom([], refusal: HTTPServerResponse(HTTPError(.missingGrant, "no")))
        let first = try ScriptedRoom([[Self.hello(nodes: [other.url])]])
        let client = try await join(first)
        first.stop()
        let end = try await client.first { if case .disconnected(let end) = $0 { end } else { nil } }
        guard case .attemptFailed(let error) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(error.status == 403)
    }
}

extension RoomConnection {
    /// Why the attempts before this one have failed.
    fileprivate func failures(until number: Int) async throws -> [ConnectError.Kind] {
        var kinds: [ConnectError.Kind] = []
        return try await first { event in
            guard case .reconnecting(let attempt, _, let reason) = event else { return nil }
            if case .attemptFailed(let error) = reason { kinds.append(error.kind) }
            return attempt == number ? kinds : nil
        }
    }
}
