import Testing
import Wire

@testable import Engine

struct UtteranceTests {
    @Test func startAndFinishOfAnUtteranceAreReported() throws {
        var call = try PlayoutWorld()
        let deaf = call.world.join("deaf", permission: Permission(canSubscribe: false))
        call.world.discardEvents()
        call.starts()
        #expect(
            call.world.takeEvents(deaf) == [.playoutStarted(call.track.sid, of: "helper", epoch: 0, at: call.first)] + [
                .agentState("helper", .speaking)
            ])
        call.drains(at: 280)
        call.pass(379)
        #expect(call.world.takeEvents(call.ann).words == ["playoutStarted", "agentState"])
        call.pass(1)
        #expect(
            call.world.takeEvents(call.ann).first
                == .playoutFinished(call.track.sid, of: "helper", epoch: 0, call.heard(280, isEstimated: true)))
        #expect(call.world.takeEvents(deaf).words.first == "playoutFinished")
    }

    @Test func slightlyLateStreamIsOneUtterance() throws {
        var call = try PlayoutWorld()
        for piece in 0..<10 {
            call.starts(at: piece * 100)
            call.drains(at: piece * 100 + 100)
            call.pass(150)
        }
        #expect(call.annsPlayoutEvents() == ["playoutStarted"])
        call.pass(100)
        #expect(call.annsPlayoutEvents() == ["playoutFinished"])
    }

    @Test func refillInTimeContinuesTheClock() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.drains(at: 200)
        call.pass(150)
        call.queueReports(.refilled(epoch: 0))
        call.mark(400)
        call.pass(250)
        #expect(call.answers().map(\.position) == [400])
        #expect(call.annsPlayoutEvents() == ["playoutStarted"])
    }

    @Test func refillAfterTheReportedEndStartsANewUtterance() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.drains(at: 200)
        call.pass(300)
        call.queueReports(.refilled(epoch: 0))
        call.mark(500)
        #expect(call.annsPlayoutEvents() == ["playoutStarted", "playoutFinished", "playoutStarted"])
        call.pass(200)
        #expect(call.answers().map(\.position) == [500])
    }

    @Test func subscriberReportDeterminesWhenTheEndPlayed() throws {
        var call = try PlayoutWorld()
        call.plays(1_000)
        call.report(600, buffered: 400)
        call.pass(399)
        #expect(call.annsPlayoutEvents() == ["playoutStarted"])
        call.pass(1)
        #expect(call.world.takeEvents(call.ann).first == .playoutFinished(call.track.sid, of: "helper", epoch: 0, call.heard(1_000)))
    }

    @Test func positionWithinAFrameOfTheEndCountsAsTheEnd() throws {
        var call = try PlayoutWorld()
        call.plays(1_000)
        call.mark(1_000)
        call.pass(400)
        call.report(981, buffered: 0)
        call.pass(19)
        #expect(call.answers().map(\.status) == [.played])
        #expect(call.annsPlayoutEvents() == ["playoutStarted", "playoutFinished"])
    }

    @Test func framesAfterAStalledSubscriberStartTheNextUtterance() throws {
        var call = try PlayoutWorld()
        call.plays(1_000)
        call.report(500, buffered: 100)
        call.mark(900)
        call.pass(1_300)
        call.starts(at: 1_000)
        #expect(call.annsPlayoutEvents() == ["playoutStarted", "playoutFinished", "playoutStarted"])
        #expect(call.answers() == [MarkResult(name: "m", status: .timeout, position: 600)])
    }

    @Test func framesAfterALateSubscriberContinueTheUtterance() throws {
        var call = try PlayoutWorld()
        call.plays(1_000)
        call.mark(900)
        call.report(200, buffered: 100)
        call.pass(1_300)
        call.report(500, buffered: 300)
        call.starts(at: 1_000)
        call.pass(200)
        call.report(700, buffered: 300)
        call.pass(200)
        #expect(call.annsPlayoutEvents() == ["playoutStarted"])
        #expect(call.answers() == [MarkResult(name: "m", status: .played, position: 900)])
    }

    @Test func newcomerLearnsOfTheCurrentUtterance() throws {
        var call = try PlayoutWorld()
        call.starts()
        let late = call.world.join("late")
        #expect(call.world.takeEvents(late).contains(.playoutStarted(call.track.sid, of: "helper", epoch: 0, at: call.first)))
        call.drains(at: 20)
        call.pass(1_000)
        let later = call.world.join("later")
        #expect(!call.world.takeEvents(later).words.contains("playoutStarted"))
    }

    @Test func backlogIsReportedOnlyToThePublisher() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.world.discardEvents()
        call.queueReports(.backlog(.high, queuedMilliseconds: 45_020, dropped: 0))
        #expect(call.world.takeEvents(call.helper) == [.playoutBacklog(call.track.sid, .high, queuedMs: 45_020, dropped: 0)])
        #expect(call.world.takeEvents(call.ann).isEmpty)
    }

    @Test func reportsOfAnUnpublishedTrackAreIgnored() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.world.send(call.helper, .unpublish(call.track.sid))
        call.drains(at: 20)
        call.queueReports(.cleared(epoch: 1, end: nil))
        #expect(call.world.effects.isEmpty)
    }
}
