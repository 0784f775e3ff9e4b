import Audio
import Foundation
import OggOpus
import PatchbayClient
import Testing
import Wire

/// Speech clips that `serve` plays into rooms.
@Suite(.timeLimit(.minutes(2)))
struct ClipPlaybackTests {
    private let folder: TemporaryFolder
    private let gateway: ServedGateway
    private let administrator: GatewayAdministrator

    init() async throws {
        folder = try TemporaryFolder()
        gateway = try await ServedGateway(["--data", folder.file("data").path])
        administrator = try gateway.administrator()
    }

    private static func json(_ body: [UInt8]) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] ?? [:]
    }

    /// The id of a clip that is ready.
    private func makeClip(_ text: String) async throws -> String {
        let created = try await administrator.post("/v1/speech", body: Array(#"{"text":"\#(text)"}"#.utf8))
        #expect(created.status == 202, "\(String(decoding: created.body, as: UTF8.self))")
        let id = try #require(try Self.json(created.body)["id"] as? String)
        try await eventually("the clip") {
            try Self.json(await administrator.get("/v1/speech/\(id)").body)["status"] as? String == "ready"
        }
        return id
    }

    private func play(_ clip: String, in room: String) async throws -> (status: Int, code: String?) {
        let answer = try await administrator.post("/v1/speech/\(clip)/play", body: Array(#"{"room":"\#(room)"}"#.utf8))
        return (answer.status, answer.body.isEmpty ? nil : try Self.json(answer.body)["code"] as? String)
    }

    @Test func aListenerHearsTheClipFromAnAgentThatLeavesAtTheEnd() async throws {
        let clip = try await makeClip("Good morning, this is a clip.")
        let listener = try await gateway.join("lobby", as: "ann")
        #expect(try await play(clip, in: "lobby").status == 204)
        var player: ParticipantInfo?
        var packets: Task<[[UInt8]], Never>?
        for await event in listener.events {
            for track in event.newTracks where track.source == .assistant {
                let frames = listener.frames(of: track.sid)
                packets = Task { await frames.reduce(into: [[UInt8]]()) { $0.append($1.packet) } }
            }
            if case .gateway(.participantJoined(let info), _) = event { player = info }
            if case .gateway(.participantLeft(let who, _), _) = event, who == player?.identity { break }
        }
        #expect(player?.kind == .agent && player?.identity.text.hasPrefix("speech:") == true)
        #expect(listener.participants.isEmpty)
        var expected: [[UInt8]] = []
        var reader = try OggOpusReader(try await administrator.get("/v1/speech/\(clip)/audio").body)
        while let packet = try reader.next() { expected.append(packet.bytes) }
        #expect(expected.count > 50, "the text takes more than a second")
        // Frames that arrived before the reader are counted only.
        let heard = try #require(await packets?.value)
        #expect(!heard.isEmpty && heard == Array(expected.suffix(heard.count)))
        #expect(listener.statistics.framesReceived == expected.count)
        await listener.leave()
    }

    @Test func aRoomThatIsNotOpenGetsNoClip() async throws {
        let clip = try await makeClip("Nobody is here.")
        let outcome = try await play(clip, in: "empty")
        #expect(outcome.status == 404 && outcome.code == "room_not_found")
    }
}
