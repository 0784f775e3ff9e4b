import Testing
import Wire

@testable import Engine

struct SpokenTranscriptTests {
    private func segment(
        _ call: PlayoutWorld, _ id: String, _ text: String, from start: Int? = nil, to end: Int? = nil, rev: Int = 0, final: Bool = true,
        track: TrackSID? = nil, words: [TranscriptWord]? = nil
    ) -> TranscriptSegment {
        TranscriptSegment(
            id: id, rev: rev, role: .assistant, participant: "helper", track: track, text: text, final: final,
            startTs: start.map { call.time($0).ticks }, endTs: end.map { call.time($0).ticks }, words: words)
    }

    private func segments(_ call: inout PlayoutWorld, to handle: ParticipantHandle) -> [TranscriptSegment] {
        call.world.takeEvents(handle).compactMap { if case .segment(let segment) = $0 { segment } else { nil } }
    }

    @Test func clearReportsThePlayedPartOfTheTranscript() throws {
        var call = try PlayoutWorld()
        let words = [
            TranscriptWord(text: "Good", startTs: call.time(1_000).ticks, endTs: call.time(1_200).ticks),
            TranscriptWord(text: "morning", startTs: call.time(1_250).ticks, endTs: call.time(1_800).ticks),
        ]
        call.starts()
        call.world.send(call.helper, .segment(segment(call, "s1", "Hello!", from: 0, to: 1_000)))
        call.world.send(call.helper, .segment(segment(call, "s2", "Good morning", from: 1_000, to: 1_800, rev: 4, words: words)))
        call.world.send(call.helper, .segment(segment(call, "s3", "How are you?", from: 1_800, to: 2_500)))
        call.pass(1_500)
        call.world.discardEvents()
        call.clear(publishedTo: 2_500)
        let received = segments(&call, to: call.ann)
        #expect(received.map(\.spoken) == [.completed, .interrupted, .interrupted])
        #expect(received.map(\.spokenChars) == [6, 4, 0] && received.map(\.rev) == [1, 5, 1])
        #expect(segments(&call, to: call.helper) == received)
        let late = call.world.join("late")
        #expect(segments(&call, to: late) == received)
    }

    @Test func withoutWordsTheShareOfTimeDecides() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.world.send(call.helper, .segment(segment(call, "s1", "0123456789", from: 200, to: 1_200)))
        call.pass(700)
        call.clear(publishedTo: 2_000)
        #expect(segments(&call, to: call.ann).last?.spokenChars == 5)
    }

    @Test func withoutTimesTheShareOfTheUtteranceDecides() throws {
        var call = try PlayoutWorld()
        call.starts()
        for (id, text) in [("s1", "01234"), ("s2", "01234"), ("s3", "01234")] {
            call.world.send(call.helper, .segment(segment(call, id, text)))
        }
        call.pass(500)
        call.world.discardEvents()
        call.clear(publishedTo: 1_000)
        let received = segments(&call, to: call.ann)
        #expect(received.map(\.spokenChars) == [5, 2, 0] && received.map(\.spoken) == [.completed, .interrupted, .interrupted])
    }

    @Test(arguments: [Int(Int32.max) - 1, Int(Int32.max)])
    func clearDoesNotCountBeyondTheHighestRevision(_ revision: Int) throws {
        var call = try PlayoutWorld()
        call.starts()
        #expect(
            call.world.send(call.helper, .segment(segment(call, "s1", "0123456789", from: 0, to: 1_000, rev: revision))) == .reply(.done))
        call.pass(500)
        call.clear(publishedTo: 1_000)
        let received = segments(&call, to: call.ann)
        #expect(received.last?.rev == Int(Int32.max) && received.last?.spoken == .interrupted)
    }

    /// As an unchecked sender could have stored it.
    @Test func interruptingASegmentWithTheHighestIntegerDoesNotTrap() {
        var transcript = Transcript()
        var segment = TranscriptSegment(id: "s1", rev: .max, role: .assistant, participant: "helper", text: "Hello")
        #expect(transcript.apply(&segment, at: Instant(nanoseconds: 0)) == .new)
        let interruption = Transcript.Interruption(heard: nil, furthest: nil, first: nil, end: nil)
        #expect(transcript.interrupt(interruption) { _ in true }.map(\.spoken) == [.interrupted])
    }

    @Test func unpublishingReportsInterruptedSegments() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.world.send(call.helper, .segment(segment(call, "s1", "0123456789", from: 0, to: 1_000)))
        call.pass(500)
        call.world.discardEvents()
        call.world.send(call.helper, .unpublish(call.track.sid))
        let received = segments(&call, to: call.ann)
        #expect(received.map(\.spoken) == [.interrupted] && received.map(\.spokenChars) == [5])
    }

    @Test func unpublishingCountsReceivedAudioAsNotPlayed() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.world.send(call.helper, .segment(segment(call, "s1", "0123456789")))
        call.receives(upTo: 10_000)
        call.pass(2_000)
        call.world.discardEvents()
        call.world.send(call.helper, .unpublish(call.track.sid))
        #expect(segments(&call, to: call.ann).map(\.spokenChars) == [2])
    }

    @Test func receivedAudioIsThatOfItsUtterance() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.receives(upTo: 2_000)
        call.pass(1_700)
        call.drains(at: 2_000)
        call.pass(10_000)
        call.starts(at: 1_000)
        call.world.send(call.helper, .segment(segment(call, "s1", "0123456789")))
        call.pass(200)
        call.world.discardEvents()
        call.world.send(call.helper, .unpublish(call.track.sid))
        #expect(segments(&call, to: call.ann).map(\.spokenChars) == [4], "200 ms of the 500 that were released")
    }

    @Test func interimSegmentIsNeverCompleted() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.world.send(call.helper, .segment(segment(call, "s1", "Well", from: 0, to: 300, final: false)))
        call.pass(500)
        call.clear(publishedTo: 1_000)
        let received = segments(&call, to: call.ann).last
        #expect(received?.spoken == .interrupted && received?.spokenChars == 4)
    }

    @Test func clearLeavesCompletedUtterancesAlone() throws {
        var call = try PlayoutWorld()
        call.world.send(call.helper, .segment(segment(call, "s1", "untimed")))
        call.world.send(call.helper, .segment(segment(call, "s2", "timed", from: 0, to: 250)))
        call.plays(300)
        call.pass(1_000)
        call.starts(at: 300)
        call.world.send(call.helper, .segment(segment(call, "s3", "next")))
        call.pass(100)
        call.world.discardEvents()
        call.clear(publishedTo: 5_000)
        #expect(segments(&call, to: call.ann).map(\.id) == ["s3"])
    }

    @Test func clearAffectsOnlyItsTrack() throws {
        var call = try PlayoutWorld()
        let other = try call.world.publish(call.helper, PublishTrack(source: .assistant, mode: .ahead))
        call.world.send(call.helper, .segment(segment(call, "mine", "x", track: call.track.sid)))
        call.world.send(call.helper, .segment(segment(call, "others", "x", track: other.sid)))
        call.world.send(call.helper, .segment(segment(call, "unknown", "x")))
        call.world.send(call.ann, .segment(TranscriptSegment(id: "user", role: .user, text: "stop")))
        call.world.discardEvents()
        call.clear(publishedTo: nil)
        #expect(segments(&call, to: call.ann).map(\.id) == ["mine"])
    }

    @Test func laterRevisionsKeepThePlayedPart() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.world.send(call.helper, .segment(segment(call, "s1", "0123456789", from: 0, to: 1_000)))
        call.pass(500)
        call.clear(publishedTo: 1_000)
        call.world.discardEvents()
        var revision = segment(call, "s1", "abcdefghijkl", rev: 2)
        (revision.spoken, revision.spokenChars) = (.completed, 12)
        call.world.send(call.helper, .segment(revision))
        let received = segments(&call, to: call.ann).last
        #expect(received?.text == "abcdefghijkl" && received?.spoken == .interrupted && received?.spokenChars == 5)
        call.clear(publishedTo: nil)
        #expect(segments(&call, to: call.ann).isEmpty)
    }

    @Test func wordsWithoutPublishedAudioDoNotCount() throws {
        var call = try PlayoutWorld()
        call.world.send(call.helper, .segment(segment(call, "s1", "soon", from: 0, to: 500)))
        call.clear(publishedTo: nil)
        #expect(segments(&call, to: call.ann).last?.spokenChars == 0)
    }
}
