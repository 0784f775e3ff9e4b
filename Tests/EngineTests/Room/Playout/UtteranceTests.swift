import Engine
import Testing
import Wire

struct UtteranceTests {
    @Test func everybodyIsToldWhenItBeginsAndWhenItsEndWasHeard() throws {
        var call = try PlayoutWorld()
        let deaf = call.world.join("deaf", permission: Permission(canSubscribe: false))
        call.world.forgetNews()
        call.begins()
        #expect(
            call.world.news(deaf) == [.playoutStarted(call.track.sid, of: "helper", epoch: 0, at: call.first)] + [
                .agentState("helper", .speaking)
            ])
        call.runsDry(at: 280)
        call.pass(379)
        #expect(call.world.news(call.ann).words == ["playoutStarted", "agentState"])
        call.pass(1)
        #expect(
            call.world.news(call.ann).first == .playoutFinished(call.track.sid, of: "helper", epoch: 0, call.heard(280, isEstimated: true)))
        #expect(call.world.news(deaf).words.first == "playoutFinished")
    }

    @Test func aStreamThatIsALittleLateIsOneUtterance() throws {
        var call = try PlayoutWorld()
        for piece in 0..<10 {
            call.begins(at: piece * 100)
            call.runsDry(at: piece * 100 + 100)
            call.pass(150)
        }
        #expect(call.annHears() == ["playoutStarted"])
        call.pass(100)
        #expect(call.annHears() == ["playoutFinished"])
    }

    @Test func whatIsRefilledInTimeGoesOnByTheSameClock() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.runsDry(at: 200)
        call.pass(150)
        call.tells(.refilled(epoch: 0))
        call.mark(400)
        call.pass(250)
        #expect(call.answers().map(\.place) == [400])
        #expect(call.annHears() == ["playoutStarted"])
    }

    @Test func whatIsRefilledJustAfterItsEndWasToldBeginsAnew() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.runsDry(at: 200)
        call.pass(300)
        call.tells(.refilled(epoch: 0))
        call.mark(500)
        #expect(call.annHears() == ["playoutStarted", "playoutFinished", "playoutStarted"])
        call.pass(200)
        #expect(call.answers().map(\.place) == [500])
    }

    @Test func aListenersReportSaysWhenTheEndWasHeard() throws {
        var call = try PlayoutWorld()
        call.speaks(1_000)
        call.report(600, buffered: 400)
        call.pass(399)
        #expect(call.annHears() == ["playoutStarted"])
        call.pass(1)
        #expect(call.world.news(call.ann).first == .playoutFinished(call.track.sid, of: "helper", epoch: 0, call.heard(1_000)))
    }

    @Test func lessThanAFrameBeforeTheEndIsTheEnd() throws {
        var call = try PlayoutWorld()
        call.speaks(1_000)
        call.mark(1_000)
        call.pass(400)
        call.report(981, buffered: 0)
        call.pass(19)
        #expect(call.answers().map(\.status) == [.played])
        #expect(call.annHears() == ["playoutStarted", "playoutFinished"])
    }

    @Test func whatFollowsAListenerWhoIsStuckIsTheNextOne() throws {
        var call = try PlayoutWorld()
        call.speaks(1_000)
        call.report(500, buffered: 100)
        call.mark(900)
        call.pass(1_300)
        call.begins(at: 1_000)
        #expect(call.annHears() == ["playoutStarted", "playoutFinished", "playoutStarted"])
        #expect(call.answers() == [MarkAnswer(name: "m", status: .timeout, place: 600)])
    }

    @Test func whatFollowsAListenerWhoIsOnlyLateIsTheSameOne() throws {
        var call = try PlayoutWorld()
        call.speaks(1_000)
        call.mark(900)
        call.report(200, buffered: 100)
        call.pass(1_300)
        call.report(500, buffered: 300)
        call.begins(at: 1_000)
        call.pass(200)
        call.report(700, buffered: 300)
        call.pass(200)
        #expect(call.annHears() == ["playoutStarted"])
        #expect(call.answers() == [MarkAnswer(name: "m", status: .played, place: 900)])
    }

    @Test func whoComesLaterIsToldWhatPlays() throws {
        var call = try PlayoutWorld()
        call.begins()
        let late = call.world.join("late")
        #expect(call.world.news(late).contains(.playoutStarted(call.track.sid, of: "helper", epoch: 0, at: call.first)))
        call.runsDry(at: 20)
        call.pass(1_000)
        let later = call.world.join("later")
        #expect(!call.world.news(later).words.contains("playoutStarted"))
    }

    @Test func theBacklogIsThePublishersBusiness() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.world.forgetNews()
        call.tells(.backlog(.high, queuedMilliseconds: 45_020, dropped: 0))
        #expect(call.world.news(call.helper) == [.playoutBacklog(call.track.sid, .high, queuedMs: 45_020, dropped: 0)])
        #expect(call.world.news(call.ann).isEmpty)
    }

    @Test func wordsOfATrackThatIsGoneAreNoWords() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.world.ask(call.helper, .unpublish(call.track.sid))
        call.runsDry(at: 20)
        call.tells(.cleared(epoch: 1, end: nil))
        #expect(call.world.effects.isEmpty)
    }
}
