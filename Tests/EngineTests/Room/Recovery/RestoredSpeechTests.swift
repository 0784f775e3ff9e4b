import Testing
import Wire

@testable import Engine

/// Ten seconds of speech, sent at once, of which a part has played when the node is lost.
struct RestoredSpeechTests {
    private var call: PlayoutWorld

    init() throws {
        call = try PlayoutWorld()
        call.world.send(call.helper, .segment(TranscriptSegment(id: "s1", role: .assistant, text: "0123456789", final: true)))
        call.starts()
        call.receives(upTo: 10_000)
    }

    private struct Loss {
        var playedMs: Int?
        var discardedMs: Int
        var spoken: SpokenState?
        var spokenChars: Int?
    }

    /// What a listener learns of the speech when the node is lost.
    private mutating func loseNode(
        _ reason: Room.RestoreReason = .nodeLost, image: RoomImage? = nil, after unseen: Duration = .zero
    ) throws -> Loss {
        call.world.discardEvents()
        let lost = try call.world.loseNode(reason, image: image, after: unseen)
        let events = call.world.takeEvents(try #require(lost["ann"]))
        var loss = Loss(discardedMs: -1)
        for event in events {
            switch event {
            case .playoutCleared(let cleared, let by):
                #expect(cleared.reason == reason.rawValue && by == "")
                (loss.playedMs, loss.discardedMs) = (cleared.heard.playedMs, cleared.discardedMs)
            case .segment(let segment): (loss.spoken, loss.spokenChars) = (segment.spoken, segment.spokenChars)
            default: break
            }
        }
        return loss
    }

    // MARK: The end of the speech

    @Test(arguments: [Room.RestoreReason.nodeLost, .moved])
    mutating func unplayedSpeechIsDiscardedAsInAClear(_ reason: Room.RestoreReason) throws {
        call.pass(2_500)
        let loss = try loseNode(reason)
        #expect(loss.playedMs == 2_500 && loss.discardedMs == 7_500)
        #expect(loss.spoken == .interrupted && loss.spokenChars == 2)
    }

    @Test mutating func laterReportsOfReceivedSpeechCount() throws {
        call.pass(1_000)
        call.receives(upTo: 20_000)
        call.pass(1_500)
        let loss = try loseNode()
        #expect(loss.playedMs == 2_500 && loss.discardedMs == 17_500 && loss.spokenChars == 1)
    }

    @Test mutating func speechThatHasPlayedIsComplete() throws {
        call.pass(9_700)
        call.drains(at: 10_000)
        call.pass(300)
        let loss = try loseNode()
        #expect(loss.playedMs == 10_000 && loss.discardedMs == 0 && loss.spoken == .completed)
    }

    @Test mutating func imageOfAnEarlierVersionEndsWithWhatWasReleased() throws {
        call.pass(2_500)
        var image = try call.world.image()
        image.tracks[0].playout?.utterance?.received = nil
        image.tracks[0].playout?.utterance?.later = nil
        let loss = try loseNode(image: image, after: .seconds(1))
        #expect(loss.playedMs == 2_500 && loss.discardedMs == 300)
    }

    @Test mutating func secondLossDoesNotReportTheSpeechAgain() throws {
        call.pass(2_500)
        _ = try loseNode()
        let loss = try loseNode(after: .seconds(1))
        #expect(loss.playedMs == 0 && loss.discardedMs == 0 && loss.spoken == nil)
    }

    // MARK: The time after the image

    @Test mutating func playoutIsAssumedToHaveGoneOnAfterTheImage() throws {
        call.pass(2_500)
        let loss = try loseNode(after: .milliseconds(500))
        #expect(loss.playedMs == 3_000 && loss.discardedMs == 7_000 && loss.spokenChars == 3)
    }

    @Test(arguments: [(Duration.seconds(100), 4_500), (.seconds(-100), 2_500)])
    mutating func clocksThatDifferMoveThePositionBySecondsAtMost(_ unseen: Duration, _ played: Int) throws {
        call.pass(2_500)
        let loss = try loseNode(after: unseen)
        #expect(loss.playedMs == played && loss.discardedMs == 10_000 - played)
    }

    @Test mutating func noMoreIsPlayedThanWasReceived() throws {
        call.pass(9_000)
        let loss = try loseNode(after: .seconds(2))
        #expect(loss.playedMs == 10_000 && loss.discardedMs == 0 && loss.spoken == .completed)
    }

    @Test mutating func mutedSpeechStandsStill() throws {
        call.pass(1_000)
        call.world.send(call.helper, .mute(call.track.sid, muted: true))
        call.pass(3_000)
        let loss = try loseNode(after: .seconds(2))
        #expect(loss.playedMs == 1_300 && loss.discardedMs == 8_700)
    }

    @Test mutating func reportedPositionGoesOnAsFarAsTheListenersBuffer() throws {
        call.pass(1_000)
        call.report(900, buffered: 180)
        let loss = try loseNode(after: .seconds(2))
        #expect(loss.playedMs == 900 + 2 * 180 && loss.spokenChars == 1)
    }

    @Test mutating func marksPassedAfterTheImageCountAsPlayed() throws {
        call.pass(2_500)
        call.mark(2_800, "passed")
        call.mark(3_200, "not passed")
        let lost = try call.world.loseNode(after: .milliseconds(500))
        let marks = call.world.takeEvents(try #require(lost["helper"])).compactMap {
            if case .playoutMarked(_, let name, let status, _) = $0 { "\(name): \(status)" } else { nil }
        }
        #expect(marks == ["passed: played", "not passed: cleared"])
    }
}
