import Backend
import Foundation
import Gateway
import Store
import Testing
import Wire

@testable import Engine

/// An independent receiver: LiveKit's own, in Python.
@Suite(.onOwnThread, .timeLimit(.minutes(2)))
struct WebhookInteropTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static let room = Room.Snapshot(
        info: RoomInfo(sid: RoomSID(text: "RM_1"), name: "Gäste", metadata: "{}", createdAt: 1_795_000_000, maxParticipants: 5),
        participantCount: 2, publisherCount: 1)
    private static let ana = ParticipantInfo(
        sid: ParticipantSID(text: "PA_1"), identity: Identity(text: "ana"), name: "Ána", kind: .agent, metadata: "m",
        attributes: ["a": "b"], permission: Permission(), joinedAt: 1_795_000_001, tracks: [track])
    private static let track = TrackInfo(
        sid: TrackSID(text: "TR_1"), alias: TrackAlias(1), participant: Identity(text: "ana"),
        description: PublishTrack(
            name: "mic", source: .microphone, codec: "opus", mode: .live, frameMs: 20, dtx: true, fec: true, channels: 1))

    @Test func liveKitReceiverAcceptsRoomWebhooks() async throws {
        let python = Self.package.appending(path: ".venv-interop/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path),
            "the interop tests need their Python environment: run `make interop` (or `make test`, which does it)")
        let events: [Room.AuditEvent] = [
            .started, .joined(Self.ana, sessionID: nil), .published(Self.track, by: Self.ana.sid),
            .unpublished(Self.track, by: Self.ana.sid),
            .left(Self.ana, sessionID: nil, .clientInitiated), .aborted(Self.ana, sessionID: nil, .joinFailure), .finished(.roomClosed),
        ]
        let receiver = Process()
        receiver.executableURL = python
        receiver.currentDirectoryURL = Self.package
        receiver.arguments = ["Tests/Interop/webhook_receiver.py", "--key", "devkey", "--secret", "secret", "--count", "\(events.count)"]
        let output = Pipe()
        receiver.standardOutput = output
        try receiver.run()
        defer { receiver.terminate() }
        let port = try #require(Self.line(output).flatMap { Int($0) })

        let world = try WebhookWorld()
        let url = "http://127.0.0.1:\(port)/"
        let writer = WebhookWriter(to: [url])
        let at = WebhookWorld.now.milliseconds
        let webhooks = events.flatMap { writer.announcement(of: RoomAuditEvent(.room($0), room: Self.room, at: at)).webhooks }
        try await world.store.webhooks.enqueue(webhooks, at: WebhookWorld.now)
        try await world.serving([url]) { try await world.emptied() }

        let lines = try events.map { _ in
            let line = try #require(Self.line(output))
            return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(
            lines.compactMap { $0["event"] as? String } == [
                "room_started", "participant_joined", "track_published", "track_unpublished", "participant_left",
                "participant_connection_aborted", "room_finished",
            ], "\(lines)")
        #expect(lines.map { $0["id"] as? String } == webhooks.map { "EV_\($0.id)" })
        let rooms = lines.compactMap { $0["room"] as? [String: Any] }
        #expect(rooms.allSatisfy { $0["name"] as? String == "Gäste" })
        #expect(rooms[0]["numParticipants"] as? Int == 2)
        let left = try #require(lines[4]["participant"] as? [String: Any])
        #expect(left["state"] as? String == "DISCONNECTED" && left["disconnectReason"] as? String == "CLIENT_INITIATED")
        #expect(left["kind"] as? String == "AGENT" && left["name"] as? String == "Ána")
        #expect((lines[2]["track"] as? [String: Any])?["mimeType"] as? String == "audio/opus")
    }

    private static func line(_ pipe: Pipe) -> String? {
        var line = Data()
        while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }
}
