import Testing
import Wire

@testable import PatchbayClient

struct PlayoutReportsTests {
    private let track = TrackSID(text: "TR_a")

    /// The times of reports when polled every 20 ms.
    private func times(_ count: Int, _ position: (Int) -> PlayoutPosition) -> [Int] {
        var reports = PlayoutReports()
        return (0..<count).map { $0 * 20 }.filter {
            reports.report(position($0), of: track, at: .milliseconds(Int64($0))) != nil
        }
    }

    private func position(_ milliseconds: Int, epoch: UInt8 = 0, isPlaying: Bool = true) -> PlayoutPosition {
        PlayoutPosition(
            epoch: epoch, playedTo: MediaTime(ticks: UInt32(milliseconds * 48)), bufferedMs: 200, isPlaying: isPlaying)
    }

    @Test func whilePlayingThereIsOneEvery200Milliseconds() {
        #expect(times(50) { position($0) } == [0, 200, 400, 600, 800])
    }

    @Test func endIsReportedOnceAndAtOnce() {
        #expect(times(50) { position(min($0, 300), isPlaying: $0 < 300) } == [0, 200, 300])
    }

    @Test func newEpochIsReportedAtOnce() {
        #expect(times(20) { position($0, epoch: $0 < 260 ? 0 : 1, isPlaying: $0 < 260) } == [0, 200, 260])
    }

    @Test func initialSilenceIsNotReported() {
        #expect(times(50) { position($0, isPlaying: false) }.isEmpty)
    }

    @Test func reportContainsPositionAndBuffer() {
        var reports = PlayoutReports()
        let report = reports.report(position(100, epoch: 7), of: track, at: .milliseconds(0))
        #expect(report == PlayoutProgress(track: track, epoch: 7, playedTs: 4_800, bufferedMs: 200))
    }
}
