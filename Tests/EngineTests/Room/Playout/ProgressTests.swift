import Engine
import Testing
import Wire

struct ProgressTests {
    /// Seven hundred milliseconds into an utterance ann says how far she is.
    private func hasReported(_ milliseconds: Int, buffered: Double) throws -> PlayoutWorld {
        var call = try PlayoutWorld()
        call.begins()
        call.pass(700)
        call.report(milliseconds, buffered: buffered)
        return call
    }

    /// She had enough in hand, and 200 ms later says it again.
    private func hasReported(_ milliseconds: Int, thenAfter200 next: Int, buffered: Double) throws -> PlayoutWorld {
        var call = try hasReported(milliseconds, buffered: 300)
        call.pass(200)
        call.report(next, buffered: buffered)
        return call
    }

    @Test func withoutReportsItIsReckoned() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.pass(700)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(700, isEstimated: true))
    }

    @Test func aReportCountsAndTheTimeSince() throws {
        var call = try hasReported(580, buffered: 240)
        call.pass(100)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(680))
    }

    @Test func whatWasLetOutSinceIsHeardAsWell() throws {
        var call = try hasReported(600, buffered: 150)
        call.pass(190)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(790))
    }

    @Test func whoHasNextToNothingDoesNotGoOnForLong() throws {
        var call = try hasReported(600, buffered: 20)
        call.pass(190)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(640))
    }

    @Test func aMarkIsReachedByWhatWasLetOutSince() throws {
        var call = try hasReported(600, buffered: 150)
        call.mark(780)
        call.pass(179)
        #expect(call.answers().isEmpty)
        call.pass(1)
        #expect(call.answers().map(\.place) == [780])
    }

    @Test func aReportThatWasLateOnItsWayDoesNotCountForLess() throws {
        var call = try hasReported(600, thenAfter200: 765, buffered: 300)
        call.pass(100)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(900))
    }

    @Test func whatIsNotThereIsNotHeardHoweverLateAReportWas() throws {
        var call = try hasReported(600, thenAfter200: 765, buffered: 10)
        call.pass(100)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(785))
    }

    @Test func twoReportsThatAreLateByAsMuchAreNotLate() throws {
        var call = try hasReported(600, thenAfter200: 765, buffered: 300)
        call.pass(200)
        call.report(965, buffered: 300)
        call.pass(100)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(1_065))
    }

    @Test func whoIsFarBehindHasFallenBehind() throws {
        var call = try hasReported(600, thenAfter200: 755, buffered: 300)
        call.pass(100)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(855))
    }

    @Test func theQueueIsToldOnceASecondWhatWhoeverIsFurthestBehindMayWant() throws {
        var call = try PlayoutWorld()
        let bob = call.world.join("bob")
        call.begins()
        call.pass(700)
        #expect(call.kept { $0.report(400, buffered: 200) } == [call.time(400)])
        #expect(call.kept { $0.report(420, buffered: 200) }.isEmpty)
        #expect(call.kept { $0.report(300, buffered: 200, by: bob) } == [call.time(300)], "but at once of one who is further behind")
        call.pass(1_000)
        #expect(call.kept { $0.report(1_400, buffered: 200) } == [call.time(300)])
        #expect(call.kept { $0.world.happens(.left(bob, .clientInitiated)) }.isEmpty)
        #expect(call.kept { $0.world.happens(.left($0.ann, .clientInitiated)) } == [nil])
    }

    @Test func theOneWhoIsFurthestCounts() throws {
        var call = try PlayoutWorld()
        let bob = call.world.join("bob")
        call.begins()
        call.pass(700)
        call.report(650, buffered: 200)
        call.report(400, buffered: 200, by: bob)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(650))
    }

    @Test func nobodyHearsWhatWasNotLetOut() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.pass(100)
        call.report(9_000, buffered: 9_000)
        #expect(call.clear(publishedTo: 20_000)?.heard == call.heard(400))
    }

    @Test func whatSomebodyHeardWhoLeftStaysHeard() throws {
        var call = try PlayoutWorld()
        let bob = call.world.join("bob")
        call.begins()
        call.pass(700)
        call.report(300, buffered: 0)
        call.report(650, buffered: 0, by: bob)
        call.world.happens(.left(bob, .clientInitiated))
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(650))
    }

    @Test func whoStopsListeningNoLongerCounts() throws {
        var call = try PlayoutWorld()
        let bob = call.world.join("bob")
        call.begins()
        call.pass(700)
        call.report(300, buffered: 300)
        call.report(650, buffered: 300, by: bob)
        call.world.ask(bob, .subscribe(call.track.sid, subscribed: false))
        call.pass(200)
        #expect(call.report(900, buffered: 0, by: bob)?.code == .notAllowed)
        #expect(call.clear(publishedTo: 5_000)?.heard == call.heard(650))
    }

    @Test func anotherEpochsReportIsPassedOver() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.pass(300)
        #expect(call.report(10, buffered: 0, epoch: 9) == .reply(.done))
        #expect(call.clear(publishedTo: 5_000)?.heard.isEstimated == true)
    }

    @Test func whoReportsAndDoesNotIsNotTakenToHearForLong() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.report(nil, buffered: 0)
        call.clear(publishedTo: 5_000)
        call.report(nil, buffered: 0)
        call.begins(at: 5_000)
        call.pass(10_000)
        let heard = call.clear(publishedTo: 20_000)?.heard
        #expect(heard == HeardPosition(playedTs: call.time(5_500).ticks, playedMs: 500, isEstimated: true))
    }

    @Test(arguments: [-1, 60_001, Double.infinity, -Double.infinity, Double.nan])
    func nonsenseIsRefused(buffered: Double) throws {
        var call = try PlayoutWorld()
        #expect(call.report(0, buffered: buffered)?.code == .invalidArgument)
    }

    @Test func onlyListenersOfAnAheadTrackReport() throws {
        var call = try PlayoutWorld()
        let live = try call.world.publish(call.helper)
        let progress = PlayoutProgress(track: live.sid, epoch: 0, playedTs: 0, bufferedMs: 0)
        #expect(call.world.ask(call.ann, .playoutProgress(progress))?.code == .invalidArgument)
        #expect(call.report(0, buffered: 0, by: call.helper)?.code == .notAllowed)
        call.world.ask(call.helper, .unpublish(call.track.sid))
        #expect(call.report(0, buffered: 0)?.code == .notFound)
    }
}
