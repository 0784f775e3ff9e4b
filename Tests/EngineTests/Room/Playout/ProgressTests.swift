import Testing
import Wire

@testable import Engine

struct ProgressTests {
    /// Ann reports her progress 700 ms into an utterance.
    private func hasReported(_ milliseconds: Int, buffered: Double) throws -> PlayoutWorld {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(700)
        call.report(milliseconds, buffered: buffered)
        return call
    }

    /// She had enough buffered, and reports again 200 ms later.
    private func hasReported(_ milliseconds: Int, thenAfter200 next: Int, buffered: Double) throws -> PlayoutWorld {
        var call = try hasReported(milliseconds, buffered: 300)
        call.pass(200)
        call.report(next, buffered: buffered)
        return call
    }

    @Test func withoutReportsThePositionIsEstimated() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(700)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(700, isEstimated: true))
    }

    @Test func positionIsTheReportPlusElapsedTime() throws {
        var call = try hasReported(580, buffered: 240)
        call.pass(100)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(680))
    }

    @Test func audioReleasedSinceTheReportCounts() throws {
        var call = try hasReported(600, buffered: 150)
        call.pass(190)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(790))
    }

    @Test func smallBufferLimitsExtrapolation() throws {
        var call = try hasReported(600, buffered: 20)
        call.pass(190)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(640))
    }

    @Test func markIsReachedByAudioReleasedSinceTheReport() throws {
        var call = try hasReported(600, buffered: 150)
        call.mark(780)
        call.pass(179)
        #expect(call.answers().isEmpty)
        call.pass(1)
        #expect(call.answers().map(\.position) == [780])
    }

    @Test func delayedReportDoesNotMoveThePositionBack() throws {
        var call = try hasReported(600, thenAfter200: 765, buffered: 300)
        call.pass(100)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(900))
    }

    @Test func delayedReportDoesNotExceedTheReleasedAudio() throws {
        var call = try hasReported(600, thenAfter200: 765, buffered: 10)
        call.pass(100)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(785))
    }

    @Test func consistentlyDelayedReportsAreBelieved() throws {
        var call = try hasReported(600, thenAfter200: 765, buffered: 300)
        call.pass(200)
        call.report(965, buffered: 300)
        call.pass(100)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(1_065))
    }

    @Test func subscriberFarBehindIsBelieved() throws {
        var call = try hasReported(600, thenAfter200: 755, buffered: 300)
        call.pass(100)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(855))
    }

    @Test func retentionFollowsTheSlowestSubscriberOncePerSecond() throws {
        var call = try PlayoutWorld()
        let bob = call.world.join("bob")
        call.starts()
        call.pass(700)
        #expect(call.retentionUpdates { $0.report(400, buffered: 200) } == [call.time(400)])
        #expect(call.retentionUpdates { $0.report(420, buffered: 200) }.isEmpty)
        #expect(call.retentionUpdates { $0.report(300, buffered: 200, by: bob) } == [call.time(300)], "but at once for a slower subscriber")
        call.pass(1_000)
        #expect(call.retentionUpdates { $0.report(1_400, buffered: 200) } == [call.time(300)])
        #expect(call.retentionUpdates { $0.world.receive(.left(bob, .clientInitiated)) }.isEmpty)
        #expect(call.retentionUpdates { $0.world.receive(.left($0.ann, .clientInitiated)) } == [nil])
    }

    @Test func furthestSubscriberCounts() throws {
        var call = try PlayoutWorld()
        let bob = call.world.join("bob")
        call.starts()
        call.pass(700)
        call.report(650, buffered: 200)
        call.report(400, buffered: 200, by: bob)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(650))
    }

    @Test func reportsAreLimitedByTheReleasePosition() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(100)
        call.report(9_000, buffered: 9_000)
        #expect(call.clear(publishedTo: 20_000)?.heard == call.heard(400))
    }

    @Test func positionOfADepartedSubscriberStays() throws {
        var call = try PlayoutWorld()
        let bob = call.world.join("bob")
        call.starts()
        call.pass(700)
        call.report(300, buffered: 0)
        call.report(650, buffered: 0, by: bob)
        call.world.receive(.left(bob, .clientInitiated))
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(650))
    }

    @Test func unsubscribedReporterNoLongerCounts() throws {
        var call = try PlayoutWorld()
        let bob = call.world.join("bob")
        call.starts()
        call.pass(700)
        call.report(300, buffered: 300)
        call.report(650, buffered: 300, by: bob)
        call.world.send(bob, .subscribe(call.track.sid, subscribed: false))
        call.pass(200)
        #expect(call.report(900, buffered: 0, by: bob)?.code == .notAllowed)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(650))
    }

    @Test func progressOfAnotherEpochIsIgnored() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(300)
        #expect(call.report(10, buffered: 0, epoch: 9) == .reply(.done))
        #expect(call.clear(publishedTo: 5_000)?.heard.isEstimated == true)
    }

    @Test func silenceOfAKnownReporterLimitsTheEstimate() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.report(nil, buffered: 0)
        call.clear(publishedTo: 5_000)
        call.report(nil, buffered: 0)
        call.starts(at: 5_000)
        call.pass(10_000)
        let heard = call.clear(publishedTo: 20_000)?.heard
        #expect(heard == HeardPosition(playedTs: call.time(5_500).ticks, playedMs: 500, isEstimated: true))
    }

    @Test(arguments: [-1, 60_001, Double.infinity, -Double.infinity, Double.nan])
    func invalidProgressIsRejected(buffered: Double) throws {
        var call = try PlayoutWorld()
        #expect(call.report(0, buffered: buffered)?.code == .invalidArgument)
    }

    @Test func onlySubscribersOfAnAheadTrackReportProgress() throws {
        var call = try PlayoutWorld()
        let live = try call.world.publish(call.helper)
        let progress = PlayoutProgress(track: live.sid, epoch: 0, playedTs: 0, bufferedMs: 0)
        #expect(call.world.send(call.ann, .playoutProgress(progress))?.code == .invalidArgument)
        #expect(call.report(0, buffered: 0, by: call.helper)?.code == .notAllowed)
        call.world.send(call.helper, .unpublish(call.track.sid))
        #expect(call.report(0, buffered: 0)?.code == .notFound)
    }
}
