import Audio
import PatchbayClient
import Testing
import Wire

/// Over a real gateway and TLS.
@Suite(.timeLimit(.minutes(1)))
struct PublishingTests {
    @Test func publishedFramesArriveUnchanged() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish(name: "mic")
            let track = try await bob.track(of: "alice")
            #expect(track.name == "mic")
            let frames = bob.frames(of: track.sid)

            let sent = try PCMSpeech(Sound.tone(milliseconds: 600)).frames()
            for frame in sent { try voice.send(frame.packet, level: frame.level, flags: frame.flags) }
            let heard = await frames.prefix(sent.count)

            #expect(heard.map(\.packet) == sent.map(\.packet))
            #expect(heard.map(\.header.level) == sent.map(\.level))
            #expect(heard.first?.header.flags == .talkspurtStart)
            #expect(heard.last?.header.flags == .talkspurtEnd)
            for (earlier, later) in zip(heard, heard.dropFirst()) {
                #expect(later.header.sequence.distance(from: earlier.header.sequence) == 1)
                #expect(later.header.timestamp.distance(from: earlier.header.timestamp) == 960)
            }
            #expect(alice.statistics.framesSent == UInt64(sent.count))
            #expect(bob.statistics.framesLost == 0)
            await alice.leave()
            await bob.leave()
        }
    }
}
