import PatchbayAgents
import Testing

struct SmartTurnDetectorTests {
    private static let loaded = Task { try SmartTurnDetector(models: Embedded.models()) }

    /// The clip up to the end of its speech and a tenth of a second.
    private func spoken(_ clip: [Float]) -> [Float] {
        let peak = clip.map(abs).max() ?? 0
        let end = (clip.lastIndex { abs($0) > peak / 50 } ?? clip.count) + 1_600
        return Array(clip.prefix(end)) + [Float](repeating: 0, count: max(end - clip.count, 0))
    }

    @Test func aWholeSentenceSoundsFinishedAndHalfOfItsBeginningsDoNot() async throws {
        let detector = try await Self.loaded.value
        let samples = spoken(try Embedded.recording("ps-librivox-0890"))
        #expect(try await detector.probabilityOfEnd(of: samples) > 0.8)
        var unfinished = 0
        let cuts = Array(stride(from: 24_000, through: samples.count - 16_000, by: 4_800))
        for cut in cuts {
            let beginning = Array(samples.prefix(cut)) + Signal.silence(0.1)
            if try await detector.probabilityOfEnd(of: beginning) < 0.8 { unfinished += 1 }
        }
        #expect(unfinished * 2 >= cuts.count, "\(unfinished) of \(cuts.count) beginnings sound unfinished")
    }

    @Test func aRecordingOfAPersonSoundsFinished() async throws {
        let clip = spoken(try Embedded.demoClip())
        #expect(try await Self.loaded.value.probabilityOfEnd(of: clip) > 0.9)
    }

    @Test(
        "Any audio has a probability",
        arguments: [
            [], Signal.silence(0.01), Signal.noise(1), Signal.tone(12), [Float](repeating: .nan, count: 400), [.infinity, -.infinity],
        ])
    func anyAudio(_ samples: [Float]) async throws {
        let probability = try await Self.loaded.value.probabilityOfEnd(of: samples)
        #expect((0...1).contains(probability))
    }

    @Test func judgementsAtTheSameTimeDoNotAffectOneAnother() async throws {
        let detector = try await Self.loaded.value
        let clip = spoken(try Embedded.demoClip())
        let alone = try await detector.probabilityOfEnd(of: clip)
        let together = try await withThrowingTaskGroup(of: Float.self) { group in
            for _ in 0..<4 {
                group.addTask { try await detector.probabilityOfEnd(of: clip) }
                group.addTask {
                    _ = try await detector.probabilityOfEnd(of: Signal.noise(3))
                    return alone
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(together.allSatisfy { $0 == alone })
    }
}
