import Testing
import Wire

@testable import Engine

struct ClearTests {
    @Test func clearIsPatchedFirstAndAnsweredOnCompletion() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.mark(3_000)
        call.world.receive(.talkStarted(call.track.sid, at: call.first))
        call.pass(500)
        call.report(400, buffered: 200)
        call.world.send(call.ann, .playoutClear(call.track.sid, reason: "barge-in"))
        #expect(call.world.trace == ["patch clear 1 to 1"])
        call.world.discardEvents()
        call.queueReports(.cleared(epoch: 1, end: call.time(9_000)))
        #expect(
            call.world.trace == [
                "reply > ann", "playoutCleared > ann helper", "playoutMarked > helper", "talkStopped > ann helper", "agentState > ann",
            ])
        let cut = ClearedPlayout(track: call.track.sid, epoch: 1, heard: call.heard(400), discardedMs: 8_600, reason: "barge-in")
        #expect(call.world.takeEvents(call.helper).first == .playoutCleared(cut, by: "ann"))
        #expect(
            call.world.takeEvents(call.ann) == [
                .playoutCleared(cut, by: "ann"),
                .talkStopped("helper", call.track.sid, at: call.time(400), reason: .cleared), .agentState("helper", .listening),
            ])
    }

    @Test func clearAnswersPendingMarks() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.mark(100, "heard")
        call.mark(9_000, "not heard")
        call.pass(200)
        call.clear(publishedTo: 9_000)
        #expect(
            call.answers() == [
                MarkResult(name: "heard", status: .played, position: 100), MarkResult(name: "not heard", status: .cleared, position: 200),
            ])
    }

    @Test func markReachedAtTheClearCountsAsPlayed() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.mark(100)
        call.world.now = call.world.now + .milliseconds(110)
        call.clear(publishedTo: 9_000)
        #expect(call.answers() == [MarkResult(name: "m", status: .played, position: 110)])
    }

    @Test func clearBeforePlayoutReportsNothingPlayed() throws {
        var call = try PlayoutWorld()
        let cut = call.clear(by: call.helper, publishedTo: nil)
        #expect(cut?.heard == HeardPosition(playedTs: nil, playedMs: 0, isEstimated: true) && cut?.discardedMs == 0)
    }

    @Test func utteranceStartedDuringTheClearIsDiscarded() throws {
        var call = try PlayoutWorld()
        call.world.send(call.ann, .playoutClear(call.track.sid, reason: nil))
        call.starts()
        #expect(call.annsPlayoutEvents().isEmpty)
        call.queueReports(.cleared(epoch: 1, end: call.time(2_000)))
        guard case .playoutCleared(let cut, _) = call.world.takeEvents(call.ann).first else { throw Unexpected(what: "no clear") }
        #expect(cut.heard.playedTs == nil && cut.discardedMs == 2_000)
    }

    @Test func newEpochIsReportedToEverybody() throws {
        var call = try PlayoutWorld()
        call.clear(publishedTo: nil)
        let late = call.world.join("late")
        let epochs = call.world.effects.compactMap { effect in
            if case .patch(.subscribe(late, to: call.track.alias, of: call.helper, let options)) = effect { options.epoch } else { nil }
        }
        #expect(epochs == [1])
        guard case .hello(let hello) = call.world.takeEvents(late).first else { throw Unexpected(what: "no hello") }
        #expect(hello.participants.last?.tracks?.first?.epoch == 1)
    }

    @Test func reportsOfTheOldEpochAreIgnored() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(100)
        call.clear(publishedTo: 5_000)
        call.world.discardEvents()
        call.queueReports(.started(epoch: 0, at: call.time(5_000), playsAt: call.world.now))
        call.queueReports(.refilled(epoch: 0))
        call.queueReports(.drained(epoch: 0, end: call.time(5_100)))
        #expect(call.annsPlayoutEvents().isEmpty)
        call.pass(10_000)
        #expect(call.annsPlayoutEvents().isEmpty, "nothing plays")
    }

    @Test func concurrentClearsGetTwoEpochsAndTwoAnswers() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(500)
        call.world.send(call.ann, .playoutClear(call.track.sid, reason: nil))
        call.world.send(call.helper, .playoutClear(call.track.sid, reason: nil))
        call.queueReports(.cleared(epoch: 1, end: call.time(4_000)))
        #expect(call.world.trace.first == "reply > ann")
        call.queueReports(.cleared(epoch: 2, end: nil))
        #expect(call.world.trace.prefix(2) == ["reply > helper", "playoutCleared > ann helper"])
        let cleared = call.world.takeEvents(call.ann).compactMap { if case .playoutCleared(let cut, _) = $0 { cut } else { nil } }
        #expect(cleared.map(\.epoch) == [1, 2] && cleared.map(\.heard.playedMs) == [500, 0] && cleared.map(\.discardedMs) == [3_500, 0])
    }

    @Test func clearIsAnsweredEvenIfThePublisherLeaves() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(500)
        call.world.send(call.ann, .playoutClear(call.track.sid, reason: nil))
        call.world.receive(.left(call.helper, .signalClose))
        let answers = call.world.answers[call.ann]?.values.flatMap { $0 } ?? []
        #expect(answers.count == 1)
        #expect(call.world.takeEvents(call.ann).words.suffix(4) == ["playoutCleared", "trackUnpublished", "participantLeft", "agentLost"])
        call.queueReports(.cleared(epoch: 1, end: nil))
        #expect(call.world.effects.isEmpty)
    }

    @Test func clearCompletesWithoutItsRequester() throws {
        var call = try PlayoutWorld()
        let bob = call.world.join("bob")
        call.starts()
        call.world.send(bob, .playoutClear(call.track.sid, reason: nil))
        call.world.receive(.left(bob, .signalClose))
        call.world.discardEvents()
        call.queueReports(.cleared(epoch: 1, end: call.time(100)))
        guard case .playoutCleared(_, let by) = call.world.takeEvents(call.ann).first else { throw Unexpected(what: "no clear") }
        #expect(by == "")
    }

    @Test func markForAClearedPositionIsCleared() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(100)
        call.clear(publishedTo: 5_000)
        call.mark(4_000, "in the queue")
        call.mark(5_020, "refused")
        call.mark(5_100, "next")
        call.starts(at: 5_020)
        call.pass(80)
        #expect(
            call.answers() == [
                MarkResult(name: "in the queue", status: .cleared, position: 100),
                MarkResult(name: "refused", status: .cleared, position: 100),
                MarkResult(name: "next", status: .played, position: 5_100),
            ])
    }

    @Test func playedTimeRestartsWithEachUtterance() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(100)
        call.clear(publishedTo: 5_000)
        call.starts(at: 5_000)
        call.pass(250)
        let heard = call.clear(publishedTo: 9_000)?.heard
        #expect(heard == HeardPosition(playedTs: call.time(5_250).ticks, playedMs: 250, isEstimated: true))
    }

    @Test func epochWrapsAround() throws {
        var call = try PlayoutWorld()
        for _ in 0..<256 { #expect(call.clear(publishedTo: nil) != nil) }
        #expect(call.epoch == 0)
        call.starts()
        #expect(call.annsPlayoutEvents().last == "playoutStarted")
    }

    @Test func nonSubscribersCannotClear() throws {
        var call = try PlayoutWorld()
        let deaf = call.world.join("deaf", permission: Permission(canSubscribe: false), isRoomAdmin: true)
        #expect(call.world.send(deaf, .playoutClear(call.track.sid, reason: nil))?.code == .notAllowed)
        call.world.send(call.ann, .hold(true))
        #expect(call.world.send(call.ann, .playoutClear(call.track.sid, reason: nil))?.code == .notAllowed)
    }

    @Test func liveTrackCannotBeCleared() throws {
        var call = try PlayoutWorld()
        let live = try call.world.publish(call.helper)
        #expect(call.world.send(call.ann, .playoutClear(live.sid, reason: nil))?.code == .invalidArgument)
        #expect(call.world.send(call.ann, .playoutClear(TrackSID(text: "TR_none"), reason: nil))?.code == .notFound)
        let long = String(repeating: "x", count: 257)
        #expect(call.world.send(call.ann, .playoutClear(call.track.sid, reason: long))?.code == .limitExceeded)
    }

    @Test func pendingClearsAreLimited() throws {
        var call = try PlayoutWorld()
        for _ in 0..<16 { #expect(call.world.send(call.ann, .playoutClear(call.track.sid, reason: nil)) == nil) }
        #expect(call.world.send(call.ann, .playoutClear(call.track.sid, reason: nil))?.code == .limitExceeded)
        // A later report completes the earlier clears as well.
        call.queueReports(.cleared(epoch: 16, end: nil))
        #expect(call.world.answers[call.ann]?.values.flatMap { $0 }.count == 17)
    }
}
