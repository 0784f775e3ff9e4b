import Audio
import PatchbayClient
import Synchronization
import Testing
import Wire

/// An assistant that sends faster than real time, over a real gateway.
@Suite(.timeLimit(.minutes(3)))
struct AheadCallTests {
    @Test func pushedAudioIsReleasedInRealTimeWithoutGaps() async throws {
        try await repeatingWhileLate {
            let heard = Mutex((chunks: [PCMChunk](), underruns: 0))
            try await TestGateway.run { gateway in
                let assistant = try await gateway.join("assistant", kind: .agent)
                let user = try await gateway.join("user")
                let spoken = try Sound.goForward()
                let voice = try await assistant.publish(source: .assistant, mode: .ahead)
                let track = try await user.track(of: "assistant")
                let clock = PlayoutClock()
                let sound = user.pcm(of: track.sid, clock: clock)
                let pushing = ContinuousClock.now
                #expect(try await voice.push(spoken))
                // It lasts 2.8 s.
                #expect(ContinuousClock.now - pushing < .seconds(2))
                try await voice.mark("end")

                let chunks = await sound.prefix(140)
                heard.withLock { $0 = (chunks, clock.statistics.underruns) }
                let fate = try await assistant.first {
                    if case .gateway(.playoutMarked(_, "end", let status, _), _) = $0 { status } else { nil }
                }
                #expect(fate == .played)
                await assistant.leave()
                await user.leave()
            }
            return heard.withLock { heard in
                let gaps = heard.chunks.count { $0.content != .sound }
                return heard.underruns == 0 && gaps == 0 ? nil : "\(heard.underruns) underruns, \(gaps) gaps"
            }
        }
    }

    @Test func clearedAudioIsNotPlayedAndThePositionIsReported() async throws {
        try await TestGateway.run { gateway in
            let assistant = try await gateway.join("assistant", kind: .agent)
            let user = try await gateway.join("user")
            let voice = try await assistant.publish(source: .assistant, mode: .ahead)
            let track = try await user.track(of: "assistant")
            let clock = PlayoutClock()
            let listening = Task { await user.pcm(of: track.sid, clock: clock).prefix(.max) }
            try await voice.push(Sound.tone(milliseconds: 10_000))
            while clock.statistics.playedMs < 1_000 { try await Task.sleep(for: .milliseconds(20)) }
            let cut = try await voice.clear(reason: "barge-in")
            #expect(cut.epoch == 1)
            #expect(!cut.heard.isEstimated)
            while clock.position?.epoch != 1 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(clock.position?.playedTo == nil)
            await assistant.leave()
            let chunks = await listening.value
            // Compared with the audio heard, not with time: on a busy machine the clear may be late.
            let heardMs = chunks.count { $0.content == .sound } * 20
            #expect(heardMs < 5_000)
            #expect((heardMs - 400...heardMs + 40).contains(cut.heard.playedMs), "\(cut), heard \(heardMs)")
            await user.leave()
        }
    }
}
