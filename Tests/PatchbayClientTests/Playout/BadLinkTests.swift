import Audio
import Testing
import Wire

@testable import PatchbayClient

/// Twenty seconds of speech over a lossy link, played by a subscriber in virtual time.
struct BadLinkTests {
    private static let packets: [[UInt8]] = {
        guard let sound = try? Sound.goForward() else { return [] }
        let long = PCMBuffer(samples: (0..<8).flatMap { _ in sound.samples })
        return (try? PCMSpeech(long).frames().prefix(1_000).map(\.packet)) ?? []
    }()

    /// Playout statistics after each 20 ms chunk.
    private func play(_ frames: [ReceivedFrame], chunks: Int) throws -> [PlayoutStatistics] {
        var playout = try PCMPlayout(channels: 1, jitter: JitterLimits(), expectedStall: .milliseconds(120))
        var waiting = frames[...]
        return (0..<chunks).map { turn in
            let now = Instant.milliseconds(Int64(turn) * 20 + 7)
            while let next = waiting.first, next.arrivedAt <= now {
                playout.insert(next)
                waiting = waiting.dropFirst()
            }
            _ = playout.next(at: now)
            return playout.playout
        }
    }

    /// A retransmission that is lost as well stalls twice as long, which no conversational jitter buffer hides. It
    /// happens at most once per run, so a single run is allowed more than the average.
    @Test func twoPercentLossNeedsLittleConcealment() throws {
        var shares: [Double] = []
        var delays: [Double] = []
        for seed in 0..<12 {
            let course = try play(RepairingLink().carry(Self.packets, seed: seed), chunks: 1_000)
            shares.append(try #require(course.last).concealedShare)
            delays.append(mean(course.dropFirst(100).map(\.delayMs)))
        }
        #expect(mean(shares) < 0.01, "\(shares)")
        #expect(shares.allSatisfy { $0 < 0.02 }, "\(shares)")
        #expect(mean(delays) < 120, "\(delays)")
        #expect(delays.allSatisfy { $0 < 130 }, "\(delays)")
    }

    @Test func lossFreeLinkHasNoConcealmentAndMinimumDelay() throws {
        var playout = try PCMPlayout(channels: 1, jitter: JitterLimits())
        for (turn, frame) in RepairingLink(lossPercent: 0).carry(Self.packets, seed: 0).enumerated() {
            playout.insert(frame)
            _ = playout.next(at: .milliseconds(Int64(turn) * 20 + 50))
        }
        #expect(playout.playout.concealedMs <= 40)
        #expect(playout.playout.delayMs <= 60)
        #expect(playout.playout.stretchedMs == 0)
    }

    @Test(arguments: [0, 2] as [Double], 0..<3)
    func delayRecoversTwoSecondsAfterAnOutage(lossPercent: Double, seed: Int) throws {
        let link = RepairingLink(lossPercent: lossPercent, outage: 8_000..<11_000)
        let course = try play(link.carry(Self.packets, seed: seed), chunks: 1_000)
        let before = median(course[350..<400].map(\.delayMs))
        let after = median(course[650..<700].map(\.delayMs))
        #expect(abs(after - before) <= 20, "\(before) before, \(after) after")
    }

    @Test func speechSurvivesABadLink() throws {
        let frames = RepairingLink().carry(Self.packets, seed: 1)
        var playout = try PCMPlayout(channels: 1, jitter: JitterLimits(), expectedStall: .milliseconds(120))
        var waiting = frames[...]
        var heard: [Int16] = []
        for turn in 0..<300 {
            let now = Instant.milliseconds(Int64(turn) * 20 + 7)
            while let next = waiting.first, next.arrivedAt <= now {
                playout.insert(next)
                waiting = waiting.dropFirst()
            }
            heard += playout.next(at: now)?.samples ?? []
        }
        var decoder = try OpusDecoder()
        let spoken = try Self.packets[..<300].flatMap { try decoder.decode($0) }
        // Pieces of 50 ms at any offset; some contain a cross-fade.
        let likeness = stride(from: 48_000, to: 240_000, by: 24_000).map { start in
            Sound.correlation(
                of: spoken[start..<start + 2_400], in: Array(heard[max(start - 24_000, 0)..<min(start + 24_000, heard.count)]))
        }
        #expect(likeness.filter { $0 > 0.8 }.count >= likeness.count * 3 / 4, "\(likeness)")
    }

    private func mean(_ values: [Double]) -> Double {
        values.reduce(0, +) / Double(values.count)
    }

    private func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }
}
