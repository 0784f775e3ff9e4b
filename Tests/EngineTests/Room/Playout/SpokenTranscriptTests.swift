import Engine
import Testing
import Wire

struct SpokenTranscriptTests {
    private func segment(
        _ call: PlayoutWorld, _ id: String, _ text: String, from start: Int? = nil, to end: Int? = nil, rev: Int = 0, final: Bool = true,
        track: TrackSID? = nil, words: [TranscriptWord]? = nil
    ) -> TranscriptSegment {
        TranscriptSegment(
            id: id, rev: rev, role: .assistant, participant: "helper", track: track, text: text, final: final,
            startTs: start.map { call.time($0).ticks }, endTs: end.map { call.time($0).ticks }, words: words)
    }

    private func told(_ call: inout PlayoutWorld, to handle: ParticipantHandle) -> [TranscriptSegment] {
        call.world.news(handle).compactMap { if case .segment(let segment) = $0 { segment } else { nil } }
    }

    @Test func aClearTellsEverybodyHowMuchWasHeard() throws {
        var call = try PlayoutWorld()
        let words = [
            TranscriptWord(text: "Good", startTs: call.time(1_000).ticks, endTs: call.time(1_200).ticks),
            TranscriptWord(text: "morning", startTs: call.time(1_250).ticks, endTs: call.time(1_800).ticks),
        ]
        call.begins()
        call.world.ask(call.helper, .segment(segment(call, "s1", "Hello!", from: 0, to: 1_000)))
        call.world.ask(call.helper, .segment(segment(call, "s2", "Good morning", from: 1_000, to: 1_800, rev: 4, words: words)))
        call.world.ask(call.helper, .segment(segment(call, "s3", "How are you?", from: 1_800, to: 2_500)))
        call.pass(1_500)
        call.world.forgetNews()
        call.clear(publishedTo: 2_500)
        let heard = told(&call, to: call.ann)
        #expect(heard.map(\.spoken) == [.completed, .interrupted, .interrupted])
        #expect(heard.map(\.spokenChars) == [6, 4, 0] && heard.map(\.rev) == [1, 5, 1])
        #expect(told(&call, to: call.helper) == heard)
        let late = call.world.join("late")
        #expect(told(&call, to: late) == heard)
    }

    @Test func withoutWordsItGoesByTheShareOfTime() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.world.ask(call.helper, .segment(segment(call, "s1", "0123456789", from: 200, to: 1_200)))
        call.pass(700)
        call.clear(publishedTo: 2_000)
        #expect(told(&call, to: call.ann).last?.spokenChars == 5)
    }

    @Test func withoutTimesItGoesByTheShareOfTheUtterance() throws {
        var call = try PlayoutWorld()
        call.begins()
        for (id, text) in [("s1", "01234"), ("s2", "01234"), ("s3", "01234")] {
            call.world.ask(call.helper, .segment(segment(call, id, text)))
        }
        call.pass(500)
        call.world.forgetNews()
        call.clear(publishedTo: 1_000)
        let heard = told(&call, to: call.ann)
        #expect(heard.map(\.spokenChars) == [5, 2, 0] && heard.map(\.spoken) == [.completed, .interrupted, .interrupted])
    }

    @Test func whatATrackThatEndsCutsOffIsToldOfToo() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.world.ask(call.helper, .segment(segment(call, "s1", "0123456789", from: 0, to: 1_000)))
        call.pass(500)
        call.world.forgetNews()
        call.world.ask(call.helper, .unpublish(call.track.sid))
        let heard = told(&call, to: call.ann)
        #expect(heard.map(\.spoken) == [.interrupted] && heard.map(\.spokenChars) == [5])
    }

    @Test func whatWasNotFinalIsNotCompleted() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.world.ask(call.helper, .segment(segment(call, "s1", "Well", from: 0, to: 300, final: false)))
        call.pass(500)
        call.clear(publishedTo: 1_000)
        let heard = told(&call, to: call.ann).last
        #expect(heard?.spoken == .interrupted && heard?.spokenChars == 4)
    }

    @Test func whatWasHeardBeforeIsLeftAlone() throws {
        var call = try PlayoutWorld()
        call.world.ask(call.helper, .segment(segment(call, "s1", "untimed")))
        call.world.ask(call.helper, .segment(segment(call, "s2", "timed", from: 0, to: 250)))
        call.speaks(300)
        call.pass(1_000)
        call.begins(at: 300)
        call.world.ask(call.helper, .segment(segment(call, "s3", "next")))
        call.pass(100)
        call.world.forgetNews()
        call.clear(publishedTo: 5_000)
        #expect(told(&call, to: call.ann).map(\.id) == ["s3"])
    }

    @Test func aClearConcernsItsOwnTrackOnly() throws {
        var call = try PlayoutWorld()
        let other = try call.world.publish(call.helper, PublishTrack(source: .assistant, mode: .ahead))
        call.world.ask(call.helper, .segment(segment(call, "mine", "x", track: call.track.sid)))
        call.world.ask(call.helper, .segment(segment(call, "others", "x", track: other.sid)))
        call.world.ask(call.helper, .segment(segment(call, "unknown", "x")))
        call.world.ask(call.ann, .segment(TranscriptSegment(id: "user", role: .user, text: "stop")))
        call.world.forgetNews()
        call.clear(publishedTo: nil)
        #expect(told(&call, to: call.ann).map(\.id) == ["mine"])
    }

    @Test func laterTheTextMayBeRevisedButNotWhatWasHeard() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.world.ask(call.helper, .segment(segment(call, "s1", "0123456789", from: 0, to: 1_000)))
        call.pass(500)
        call.clear(publishedTo: 1_000)
        call.world.forgetNews()
        var revision = segment(call, "s1", "abcdefghijkl", rev: 2)
        (revision.spoken, revision.spokenChars) = (.completed, 12)
        call.world.ask(call.helper, .segment(revision))
        let heard = told(&call, to: call.ann).last
        #expect(heard?.text == "abcdefghijkl" && heard?.spoken == .interrupted && heard?.spokenChars == 5)
        call.clear(publishedTo: nil)
        #expect(told(&call, to: call.ann).isEmpty)
    }

    @Test func wordsForAudioThatNeverCameWereNotHeard() throws {
        var call = try PlayoutWorld()
        call.world.ask(call.helper, .segment(segment(call, "s1", "soon", from: 0, to: 500)))
        call.clear(publishedTo: nil)
        #expect(told(&call, to: call.ann).last?.spokenChars == 0)
    }
}
