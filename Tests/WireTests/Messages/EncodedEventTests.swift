import Testing
import Wire

struct EncodedEventTests {
    @Test(arguments: [0, 7, 9, 10, 99, 100, 123_456_789, UInt64.max]) func numbersAreEncodedExactly(seq: UInt64) {
        let event = EncodedEvent(.callHeld(by: Identity(text: "ann")))
        let text = #"{"type":"call.held","seq":\#(seq),"data":{"participant":"ann"}}"#
        #expect(String(decoding: event.bytes(seq: seq), as: UTF8.self) == text && event.byteCount(seq: seq) == text.utf8.count)
    }

    @Test func statusEventsAreDeferredAndNewerStatisticsSupersedeOlderOnes() {
        let (ann, track) = (Identity(text: "ann"), TrackSID(text: "TR_1"))
        let stats = EncodedEvent(.stats(ConnectionStats(rttMs: 0.41, sent: .max, dropped: 0, lateP99Ms: 1_234.5)))
        #expect(stats.supersedesPrevious && stats.deferralMilliseconds == 100)
        let talk = EncodedEvent(.talkStarted(ann, track, at: MediaTime(ticks: 0)))
        #expect(!talk.supersedesPrevious && talk.deferralMilliseconds == 20)
        #expect(EncodedEvent(.callHeld(by: ann)).deferralMilliseconds == 0)
    }
}
