import Audio
import Foundation
import OggOpus
import PatchbayAgents
import PatchbayClient
import Testing
import Wire

/// A file played into a room by a participant of its own.
@Suite(.timeLimit(.minutes(1)))
struct PlayingFileTests {
    /// 20 packets of 20 ms.
    private static func file() throws -> [UInt8] {
        var encoder = try OpusEncoder()
        var writer = try OggOpusWriter(OpusHead(preSkip: encoder.preSkip))
        var bytes = try writer.start()
        for frame in 0..<20 {
            let pcm = (0..<960).map { index -> Int16 in
                let level: Double = 8_000 * sin(Double(frame * 960 + index) / 20)
                return Int16(level)
            }
            bytes += try writer.append(encoder.encode(pcm))
        }
        bytes += try writer.finish()
        return bytes
    }

    @Test func everyPacketArrivesAndTheParticipantLeaves() async throws {
        let file = try Self.file()
        try await TestGateway.run { gateway in
            // Live frames are dropped after 200 ms, but after 2 s for agents.
            let listener = try await gateway.join("assistant:1", kind: .agent)
            let token = try gateway.token("speech:1", kind: .agent)
            async let playing: Void = RoomConnection.play(file, url: gateway.url, token: token, options: gateway.options)
            var hasLeft = false
            for await event in listener.events {
                switch event {
                case .gateway(.trackPublished(let track), _):
                    #expect(track.participant == Identity(text: "speech:1") && track.source == .assistant)
                    for await frame in listener.frames(of: track.sid) where frame.header.flags.contains(.talkspurtEnd) { break }
                case .gateway(.participantLeft(let identity, _), _): hasLeft = identity == Identity(text: "speech:1")
                default: break
                }
                if hasLeft { break }
            }
            try await playing
            // Frames that arrived before the reader are counted, too.
            #expect(listener.statistics.framesReceived == 20 && listener.statistics.framesLost == 0)
            await listener.leave()
        }
    }

    @Test func aFileThatIsNoOggIsRefusedBeforeTheJoin() async throws {
        await #expect(throws: OggOpusError.self) {
            try await RoomConnection.play([1, 2, 3], url: "wss://127.0.0.1:1", token: "", options: RoomOptions())
        }
    }
}
