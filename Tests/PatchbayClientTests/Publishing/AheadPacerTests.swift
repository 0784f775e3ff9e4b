import Testing
import Wire

@testable import PatchbayClient

struct AheadPacerTests {
    @Test func thirtySecondsAreSentAtOnceAndTheRestInRealTime() {
        var pacer = AheadPacer()
        let deadlines = (0..<1_600).map { _ in pacer.deadline(ticks: 960, at: .milliseconds(0)) }
        #expect(deadlines[..<1_501].allSatisfy { $0 == .milliseconds(0) })
        #expect(deadlines[1_550] == .milliseconds(1_000))
    }

    @Test func pauseRestoresTheLead() {
        var pacer = AheadPacer()
        for _ in 0..<1_500 { _ = pacer.deadline(ticks: 960, at: .milliseconds(0)) }
        let later = Instant.milliseconds(60_000)
        let deadlines = (0..<1_500).map { _ in pacer.deadline(ticks: 960, at: later) }
        #expect(deadlines.allSatisfy { $0 == later })
    }
}
