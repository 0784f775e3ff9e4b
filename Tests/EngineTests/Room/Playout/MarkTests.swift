import Testing
import Wire

@testable import Engine

struct MarkTests {
    @Test func markIsReportedWhenItIsReached() throws {
        var call = try PlayoutWorld()
        call.starts()
        #expect(call.mark(500) == .reply(.done))
        let due = call.world.now + .milliseconds(500)
        #expect(call.world.room.deadline == due)
        call.pass(499)
        #expect(call.answers().isEmpty)
        call.pass(1)
        #expect(call.answers() == [MarkResult(name: "m", status: .played, position: 500)])
        call.pass(60_000)
        #expect(call.answers().isEmpty)
    }

    @Test func positionAdvancesBetweenReports() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(300)
        call.report(180, buffered: 250)
        call.mark(300)
        call.pass(119)
        #expect(call.answers().isEmpty)
        call.pass(1)
        #expect(call.answers().map(\.status) == [.played])
    }

    @Test func positionIsLimitedByBufferedAudio() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(300)
        call.report(180, buffered: 50)
        call.mark(300)
        call.pass(2_000)
        #expect(call.answers().isEmpty)
        call.report(280, buffered: 40)
        call.pass(20)
        #expect(call.answers().map(\.position) == [300])
    }

    @Test func markAtAPlayedPositionIsAnsweredAtOnce() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(300)
        call.report(250, buffered: 100)
        call.mark(100)
        #expect(call.answers() == [MarkResult(name: "m", status: .played, position: 250)])
        call.drains(at: 350)
        call.pass(6_000)
        call.mark(350)
        #expect(call.answers().map(\.status) == [.played])
    }

    @Test func markMayPrecedeItsAudio() throws {
        var call = try PlayoutWorld()
        call.mark(200)
        call.pass(3_000)
        call.starts()
        call.pass(200)
        #expect(call.answers() == [MarkResult(name: "m", status: .played, position: 200)])
    }

    @Test func unreachedMarkTimesOut() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.drains(at: 200)
        call.mark(201)
        call.pass(5_199)
        #expect(call.answers().isEmpty)
        call.pass(1)
        #expect(call.answers() == [MarkResult(name: "m", status: .timeout, position: 200)])
    }

    @Test func markWithoutAudioTimesOut() throws {
        var call = try PlayoutWorld()
        call.mark(0)
        call.pass(5_000)
        #expect(call.answers() == [MarkResult(name: "m", status: .timeout, position: nil)])
    }

    @Test func markOnDroppedFramesIsDropped() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.mark(61_000)
        call.queueReports(.backlog(.full, queuedMilliseconds: 60_000, dropped: 12))
        call.pass(59_700)
        call.drains(at: 60_000)
        call.pass(5_300)
        #expect(call.answers() == [MarkResult(name: "m", status: .dropped, position: 60_000)])
    }

    @Test func stalledSubscriberDoesNotHoldMarksForever() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(300)
        call.report(200, buffered: 50)
        call.mark(400)
        call.pass(64_000)
        #expect(call.answers().isEmpty)
        call.pass(1_000)
        #expect(call.answers() == [MarkResult(name: "m", status: .timeout, position: 300)])
    }

    @Test func audioMissedByAStalledSubscriberIsNotPlayedLater() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.pass(300)
        call.report(200, buffered: 0)
        call.drains(at: 600)
        call.pass(5_300)
        #expect(call.annsPlayoutEvents() == ["playoutStarted", "playoutFinished"])
        call.mark(500)
        #expect(call.answers().map(\.status) == [.timeout])
    }

    @Test func pauseDelaysMarks() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.mark(1_000)
        call.pass(100)
        call.world.send(call.helper, .mute(call.track.sid, muted: true))
        call.pass(10_000)
        #expect(call.answers().isEmpty)
        call.world.send(call.helper, .mute(call.track.sid, muted: false))
        call.starts(at: 380)
        call.pass(619)
        #expect(call.answers().isEmpty)
        call.pass(1)
        #expect(call.answers().map(\.position) == [1_000])
    }

    @Test func reportAfterAMuteDoesNotEndThePause() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.drains(at: 100)
        call.mark(1_000)
        call.world.send(call.helper, .mute(call.track.sid, muted: true))
        call.queueReports(.refilled(epoch: 0))
        call.pass(3_000)
        #expect(call.answers().isEmpty)
    }

    @Test func unpublishingDropsMarks() throws {
        var call = try PlayoutWorld()
        call.starts()
        call.mark(100, "a")
        call.mark(200, "b")
        call.pass(100)
        call.world.send(call.helper, .unpublish(call.track.sid))
        #expect(call.answers().map(\.status) == [.played, .dropped])
    }

    @Test func onlyThePublisherOfAnAheadTrackSetsMarks() throws {
        var call = try PlayoutWorld()
        let live = try call.world.publish(call.helper)
        let mark = PlayoutMark(track: call.track.sid, ts: 0, name: "m")
        #expect(call.world.send(call.ann, .playoutMark(mark))?.code == .notAllowed)
        #expect(call.world.send(call.helper, .playoutMark(PlayoutMark(track: live.sid, ts: 0, name: "m")))?.code == .invalidArgument)
        let gone = PlayoutMark(track: TrackSID(text: "TR_none"), ts: 0, name: "m")
        #expect(call.world.send(call.helper, .playoutMark(gone))?.code == .notFound)
        #expect(call.mark(0, String(repeating: "x", count: 257))?.code == .limitExceeded)
    }

    @Test func pendingMarksAreLimited() throws {
        var call = try PlayoutWorld()
        for _ in 0..<1_000 { #expect(call.mark(100) == .reply(.done)) }
        #expect(call.mark(100)?.code == .limitExceeded)
        call.starts()
        call.pass(100)
        #expect(call.answers().count == 1_000)
        #expect(call.mark(100) == .reply(.done))
    }
}
