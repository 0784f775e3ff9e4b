import Testing

@testable import patchbay

struct SpeechProgressTests {
    private static func seconds(_ seconds: Double) -> Duration { .seconds(seconds) }

    @Test func progressFollowsTheAudioWithinASentence() {
        // 100 characters are estimated as 6.5 s of audio.
        var progress = SpeechProgress(of: [String(repeating: "a", count: 100)])
        #expect(progress.percent(at: .zero) == 0)
        progress.received(Self.seconds(3.25))
        #expect(progress.percent(at: .zero) == 50)
        progress.received(Self.seconds(60))
        #expect(progress.percent(at: .zero) == 95)
        progress.finishSentence(at: .zero)
        #expect(progress.percent(at: .zero) == 100)
    }

    @Test func progressFollowsTheTimeWhereAudioComesAsAWhole() {
        let progress = SpeechProgress(of: [String(repeating: "a", count: 100)])
        let steps = (0...20).map { progress.percent(at: .milliseconds(100 * $0)) }
        #expect(steps == steps.sorted() && Set(steps).count > 10 && steps.last == 95)
    }

    @Test func sentencesCountByTheirLengthAndTeachHowLongTheRestTakes() {
        var progress = SpeechProgress(of: [String(repeating: "a", count: 30), String(repeating: "b", count: 70)])
        progress.received(Self.seconds(6))
        progress.finishSentence(at: Self.seconds(3))
        #expect(progress.percent(at: Self.seconds(3)) == 30)
        // 70 characters take 7 s.
        #expect(progress.percent(at: Self.seconds(6.5)) == 65)
        // Their audio lasts 14 s.
        progress.received(Self.seconds(10.5))
        #expect(progress.percent(at: Self.seconds(6.5)) == 82)
        progress.finishSentence(at: Self.seconds(9))
        #expect(progress.percent(at: Self.seconds(9)) == 100)
    }

    @Test func nothingToSpeakIsComplete() {
        #expect(SpeechProgress(of: []).percent(at: .zero) == 100)
    }
}
