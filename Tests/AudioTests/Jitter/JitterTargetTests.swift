import Audio
import Testing
import Wire

/// The target delay of the jitter buffer on paths with stalls.
@Suite struct JitterTargetTests {
    /// Plays a track whose frame `n` arrives at n × 20 ms plus `lateness`.
    ///
    /// - Returns: the delay wanted after each frame.
    private func targets(_ count: Int, expectedStall: Duration = .zero, lateness: (Int) -> Int) -> [Int] {
        var buffer = JitterBuffer<Int>(expectedStall: expectedStall)
        var targets: [Int] = []
        var arrived = 0
        for number in 0..<count {
            // In order, as TCP gives them.
            arrived = max(arrived, number * 20 + lateness(number))
            buffer.insert(
                JitterFrame(
                    sequence: SequenceNumber(UInt16(number)), timestamp: MediaTime(ticks: UInt32(number) * 960), ticks: 960, payload: number
                ),
                at: Instant(nanoseconds: UInt64(arrived) * 1_000_000))
            while case .frame = buffer.next(at: Instant(nanoseconds: UInt64(arrived + 300) * 1_000_000)) {}
            targets.append(Int(buffer.statistics.targetDelay / .milliseconds(1)))
        }
        return targets
    }

    @Test func anEvenPathNeedsNoMoreThanTheLeastDelay() {
        #expect(targets(1_000) { _ in 0 }.allSatisfy { $0 == 40 })
    }

    @Test func frequentStallsAreHiddenAtOnce() {
        let targets = targets(1_000) { $0 % 50 == 25 ? 120 : 0 }
        #expect((85...100).contains(targets[80]), "\(targets[80])")
        #expect((85...105).contains(targets[999]), "\(targets[999])")
    }

    @Test func aSingleStallDoesNotRaiseTheTarget() {
        let targets = targets(1_000) { $0 == 500 ? 300 : $0 % 50 == 25 ? 60 : 0 }
        #expect(targets.allSatisfy { $0 <= 105 }, "\(targets.max() ?? 0)")
    }

    @Test func permanentlyBadPathsGetTheDelayTheyNeed() {
        let targets = targets(1_000) { $0 % 25 == 12 ? 260 : 0 }
        #expect((200...260).contains(targets[999]), "\(targets[999])")
    }

    @Test func stallsAreForgottenAfterTwentySeconds() {
        let targets = targets(2_000) { $0 == 100 ? 150 : 0 }
        #expect(targets[200] > 90)
        #expect(targets[1_200] == 40)
    }

    @Test func outagesDoNotRaiseTheTarget() {
        let targets = targets(1_000) { $0 == 300 ? 3_000 : (301..<370).contains($0) && $0 % 10 == 0 ? 3_000 - ($0 - 300) * 20 + 200 : 0 }
        #expect(targets.allSatisfy { $0 == 40 }, "\(targets.max() ?? 0)")
    }

    @Test func expectedStallsAreHiddenTheFirstTime() {
        let targets = targets(1_200, expectedStall: .milliseconds(120)) { _ in 0 }
        #expect((85...100).contains(targets[10]))
        #expect(targets[1_100] == 40)
    }
}
