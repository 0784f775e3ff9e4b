import Testing
import Wire

@testable import Engine

/// With path and device delays, the room's position is the subscriber's own, except for audio that is under way.
struct PlayoutAccuracyTests {
    @Test(arguments: 0..<50)
    func clearIsAnsweredWithTheReportedPosition(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let path = 5 + random.below(60)
        let buffering = random.below(100)
        let clearedAt = 400 + random.below(3_000)
        var call = try PlayoutWorld()
        call.starts()
        // The subscriber starts when its buffer is full, and reports every 200 ms from there.
        var reportAt = path + buffering + 200
        var passed = 0
        while reportAt + path <= clearedAt {
            call.pass(reportAt + path - passed)
            passed = reportAt + path
            let played = reportAt - path - buffering
            call.report(played, buffered: 250 - Double(buffering))
            reportAt += 200
        }
        call.pass(clearedAt - passed)
        let heard = try #require(call.clear(publishedTo: 60_000)?.heard)
        let truth = clearedAt - path - buffering
        #expect(heard.playedMs <= truth + (heard.isEstimated ? path + buffering : 0), "\(heard) is more than \(truth)")
        #expect(heard.playedMs >= truth - path - max(0, 200 + buffering - 250), "\(heard) is less than \(truth)")
    }
}
