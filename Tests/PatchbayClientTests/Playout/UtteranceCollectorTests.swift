import Testing
import Wire

@testable import PatchbayClient

struct UtteranceCollectorTests {
    private var collector = UtteranceCollector()

    @Test mutating func utteranceSpansStartToEndFlag() {
        #expect(collector.collect(.number(0, flags: .talkspurtStart, voice: false)) == nil)
        #expect(collector.collect(.number(1)) == nil)
        #expect(collector.collect(.number(2, flags: .talkspurtEnd, voice: false))?.count == 3)
        #expect(collector.deadline == nil)
    }

    @Test mutating func voiceStartsAnUtteranceWithHalfASecondOfLeadIn() {
        for number in 0..<100 { #expect(collector.collect(.number(number, voice: false)) == nil) }
        #expect(collector.deadline == nil)
        #expect(collector.collect(.number(100)) == nil)
        let utterance = collector.collect(.number(101, flags: .talkspurtEnd))
        #expect(utterance?.count == 27)
    }

    @Test mutating func pauseEndsAnUtterance() {
        _ = collector.collect(.number(0, flags: .talkspurtStart))
        _ = collector.collect(.number(1))
        #expect(collector.deadline == .milliseconds(320))
        #expect(collector.tick(at: .milliseconds(319)) == nil)
        #expect(collector.tick(at: .milliseconds(320))?.count == 2)
        #expect(collector.tick(at: .milliseconds(900)) == nil)
    }

    @Test mutating func talkStoppedEndsAnUtteranceWithVoice() {
        _ = collector.collect(.number(0, flags: .talkspurtStart, voice: false))
        #expect(collector.talkStopped(.silence) == nil)
        _ = collector.collect(.number(1))
        #expect(collector.talkStopped(.end) == nil)
        #expect(collector.talkStopped(.silence)?.count == 2)
        #expect(collector.talkStopped(.silence) == nil)
    }

    @Test mutating func utterancesEndAfterAMinute() {
        var utterances: [Int] = []
        for number in 0..<6_100 { if let utterance = collector.collect(.number(number)) { utterances.append(utterance.count) } }
        #expect(utterances == [3_002, 3_002])
    }

    @Test func receivedFramesCanBeRepeated() {
        let heard: [ReceivedFrame] = [
            .number(5, flags: [.talkspurtStart, .discontinuity]), .number(6), .number(7, flags: .talkspurtEnd, skippedTicks: 960),
        ]
        let said = SpokenFrame.repeating(heard)
        #expect(said.map(\.packet) == heard.map(\.packet))
        #expect(said.map(\.flags) == [.talkspurtStart, [], .talkspurtEnd])
        #expect(said.map(\.silenceBefore) == [0, 0, 960])
        #expect(said.map(\.level) == heard.map(\.header.level))
    }
}
