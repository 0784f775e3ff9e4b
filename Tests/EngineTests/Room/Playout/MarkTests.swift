import Engine
import Testing
import Wire

struct MarkTests {
    @Test func aMarkIsToldAtTheInstantAtWhichItIsReached() throws {
        var call = try PlayoutWorld()
        call.begins()
        #expect(call.mark(500) == .reply(.done))
        let due = call.world.now + .milliseconds(500)
        #expect(call.world.room.deadline == due)
        call.pass(499)
        #expect(call.answers().isEmpty)
        call.pass(1)
        #expect(call.answers() == [MarkAnswer(name: "m", status: .played, place: 500)])
        call.pass(60_000)
        #expect(call.answers().isEmpty)
    }

    @Test func betweenReportsTimeGoesOn() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.pass(300)
        call.report(180, buffered: 250)
        call.mark(300)
        call.pass(119)
        #expect(call.answers().isEmpty)
        call.pass(1)
        #expect(call.answers().map(\.status) == [.played])
    }

    @Test func itIsNotHeardFurtherThanTheListenersAudioReaches() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.pass(300)
        call.report(180, buffered: 50)
        call.mark(300)
        call.pass(2_000)
        #expect(call.answers().isEmpty)
        call.report(280, buffered: 40)
        call.pass(20)
        #expect(call.answers().map(\.place) == [300])
    }

    @Test func whatWasHeardAlreadyIsToldAtOnce() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.pass(300)
        call.report(250, buffered: 100)
        call.mark(100)
        #expect(call.answers() == [MarkAnswer(name: "m", status: .played, place: 250)])
        call.runsDry(at: 350)
        call.pass(6_000)
        call.mark(350)
        #expect(call.answers().map(\.status) == [.played])
    }

    @Test func aMarkMayComeBeforeItsAudio() throws {
        var call = try PlayoutWorld()
        call.mark(200)
        call.pass(3_000)
        call.begins()
        call.pass(200)
        #expect(call.answers() == [MarkAnswer(name: "m", status: .played, place: 200)])
    }

    @Test func whatNothingReachesIsGivenUp() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.runsDry(at: 200)
        call.mark(201)
        call.pass(5_199)
        #expect(call.answers().isEmpty)
        call.pass(1)
        #expect(call.answers() == [MarkAnswer(name: "m", status: .timeout, place: 200)])
    }

    @Test func withoutAnyAudioAMarkIsGivenUpToo() throws {
        var call = try PlayoutWorld()
        call.mark(0)
        call.pass(5_000)
        #expect(call.answers() == [MarkAnswer(name: "m", status: .timeout, place: nil)])
    }

    @Test func whatWasRefusedIsDropped() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.mark(61_000)
        call.tells(.backlog(.full, queuedMilliseconds: 60_000, dropped: 12))
        call.pass(59_700)
        call.runsDry(at: 60_000)
        call.pass(5_300)
        #expect(call.answers() == [MarkAnswer(name: "m", status: .dropped, place: 60_000)])
    }

    @Test func aStalledListenerDoesNotHoldAMarkForEver() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.pass(300)
        call.report(200, buffered: 50)
        call.mark(400)
        call.pass(64_000)
        #expect(call.answers().isEmpty)
        call.pass(1_000)
        #expect(call.answers() == [MarkAnswer(name: "m", status: .timeout, place: 300)])
    }

    @Test func whatAStalledListenerMissedIsNotHeardLater() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.pass(300)
        call.report(200, buffered: 0)
        call.runsDry(at: 600)
        call.pass(5_300)
        #expect(call.annHears() == ["playoutStarted", "playoutFinished"])
        call.mark(500)
        #expect(call.answers().map(\.status) == [.timeout])
    }

    @Test func aPauseHoldsMarksBack() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.mark(1_000)
        call.pass(100)
        call.world.ask(call.helper, .mute(call.track.sid, muted: true))
        call.pass(10_000)
        #expect(call.answers().isEmpty)
        call.world.ask(call.helper, .mute(call.track.sid, muted: false))
        call.begins(at: 380)
        call.pass(619)
        #expect(call.answers().isEmpty)
        call.pass(1)
        #expect(call.answers().map(\.place) == [1_000])
    }

    @Test func aWordThatComesAfterTheMuteDoesNotEndThePause() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.runsDry(at: 100)
        call.mark(1_000)
        call.world.ask(call.helper, .mute(call.track.sid, muted: true))
        call.tells(.refilled(epoch: 0))
        call.pass(3_000)
        #expect(call.answers().isEmpty)
    }

    @Test func aTrackThatEndsDropsItsMarks() throws {
        var call = try PlayoutWorld()
        call.begins()
        call.mark(100, "a")
        call.mark(200, "b")
        call.pass(100)
        call.world.ask(call.helper, .unpublish(call.track.sid))
        #expect(call.answers().map(\.status) == [.played, .dropped])
    }

    @Test func onlyThePublisherOfAnAheadTrackMarks() throws {
        var call = try PlayoutWorld()
        let live = try call.world.publish(call.helper)
        let mark = PlayoutMark(track: call.track.sid, ts: 0, name: "m")
        #expect(call.world.ask(call.ann, .playoutMark(mark))?.code == .notAllowed)
        #expect(call.world.ask(call.helper, .playoutMark(PlayoutMark(track: live.sid, ts: 0, name: "m")))?.code == .invalidArgument)
        let gone = PlayoutMark(track: TrackSID(text: "TR_none"), ts: 0, name: "m")
        #expect(call.world.ask(call.helper, .playoutMark(gone))?.code == .notFound)
        #expect(call.mark(0, String(repeating: "x", count: 257))?.code == .limitExceeded)
    }

    @Test func marksThatWaitHaveALimit() throws {
        var call = try PlayoutWorld()
        for _ in 0..<1_000 { #expect(call.mark(100) == .reply(.done)) }
        #expect(call.mark(100)?.code == .limitExceeded)
        call.begins()
        call.pass(100)
        #expect(call.answers().count == 1_000)
        #expect(call.mark(100) == .reply(.done))
    }
}
