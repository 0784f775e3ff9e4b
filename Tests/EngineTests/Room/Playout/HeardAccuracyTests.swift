import Engine
import Testing
import Wire

/// A subscriber whose path and device take their time: what the room says was heard is what it had heard, but for what was on its way.
struct HeardAccuracyTests {
    @Test(arguments: 0..<50)
    func aClearIsAnsweredWithWhatTheListenerHadHeard(seed: Int) throws {
        var chance = SplitMix64(seed: UInt64(seed))
        let path = 5 + chance.below(60)
        let buffering = chance.below(100)
        let clearedAt = 400 + chance.below(3_000)
        var call = try PlayoutWorld()
        call.begins()
        // The subscriber begins when the first frame has come and its buffer is full, and reports every 200 ms from there.
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
