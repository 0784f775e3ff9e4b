import Testing
import Wire

@testable import Engine

struct PatchTests {
    private let track = TrackInfo(
        sid: TrackSID(text: "TR_1"), alias: TrackAlias(7), participant: Identity(text: "alice"), description: PublishTrack())

    private func header(epoch: UInt8 = 0) -> FrameHeader {
        FrameHeader(
            alias: TrackAlias(7), sequence: SequenceNumber(1), level: AudioLevelByte(voice: true, level: 20), epoch: epoch,
            timestamp: MediaTime(ticks: 0))
    }

    @Test func purityCheckFindsForbiddenNames() {
        var patch = Patch(track)
        let found1 = patch.admit(header(), at: .at(0))
        #expect(found1 == nil)
        let found2 = patch.admit(header(epoch: 1), at: .at(0))
        #expect(found2 == .epoch)
        patch.gate = .muted
        let found3 = patch.admit(header(), at: .at(0))
        #expect(found3 == .muted)
        patch.gate = .held
        let found4 = patch.admit(header(), at: .at(0))
        #expect(found4 == .held)
    }

    @Test func rejectedFramesDoNotUseUpTheRate() {
        var patch = Patch(track)
        patch.gate = .muted
        for _ in 0..<1_000 { _ = patch.admit(header(), at: .at(0)) }
        patch.gate = .open
        let found5 = patch.admit(header(), at: .at(0))
        #expect(found5 == nil)
    }

    @Test(arguments: [2.5, 5, 10, 20, 60])
    func continuousSpeechStaysWithinTheRate(frameMilliseconds: Double) {
        var description = PublishTrack()
        description.frameMs = frameMilliseconds
        var patch = Patch(
            TrackInfo(sid: TrackSID(text: "TR_2"), alias: TrackAlias(7), participant: Identity(text: "alice"), description: description))
        let tenSeconds = Int(10_000 / frameMilliseconds)
        let rejected = (0..<tenSeconds).count { patch.admit(header(), at: .at(Int(Double($0) * frameMilliseconds))) != nil }
        #expect(rejected == 0)
    }

    @Test func thousandFramesInASecondExceedTheRate() {
        var patch = Patch(track)
        let admitted = (0..<1_000).count { patch.admit(header(), at: .at($0)) == nil }
        #expect(admitted == 199, "a hundred at once, and a hundred a second")
    }

    @Test func frameIsRoutedToItsSubscribers() throws {
        var panel = PatchPanel()
        let unknown = panel.route(header(), publishedBy: 3, at: .at(0))
        #expect(unknown == .dropped(.notPublished))
        panel.publish(track, by: 3)
        let old = panel.route(header(epoch: 1), publishedBy: 3, at: .at(0))
        #expect(old == .dropped(.epoch))
        let first = panel.route(header(), publishedBy: 3, at: .at(0))
        #expect(first == .live(patch: 0, sole: nil, edge: .started(MediaTime(ticks: 0)), hasOtherTargets: false), "it is voice")
        panel.add(trunk: 1, to: track.alias, of: 3)
        let next = panel.route(header(), publishedBy: 3, at: .at(20))
        #expect(next == .live(patch: 0, sole: nil, edge: nil, hasOtherTargets: true))
        panel.add(subscriber: 7, to: track.alias, of: 3)
        let toOne = panel.route(header(), publishedBy: 3, at: .at(40))
        #expect(toOne == .live(patch: 0, sole: 7, edge: nil, hasOtherTargets: true))
        panel.add(subscriber: 8, to: track.alias, of: 3)
        let toTwo = panel.route(header(), publishedBy: 3, at: .at(60))
        #expect(toTwo == .live(patch: 0, sole: nil, edge: nil, hasOtherTargets: true))
    }

    @Test func aheadFrameGoesToItsQueueUnmetered() {
        var panel = PatchPanel()
        panel.publish(track, by: 3, aheadIndex: 5)
        for time in 0..<1_000 {
            let passage = panel.route(header(), publishedBy: 3, at: .at(time))
            #expect(passage == .ahead(patch: 0, queue: 5, hasOtherTargets: false), "however many arrive in a second")
        }
        panel.add(trunk: 1, to: track.alias, of: 3)
        let passage = panel.route(header(), publishedBy: 3, at: .at(1_000))
        #expect(passage == .ahead(patch: 0, queue: 5, hasOtherTargets: true))
        let measured = panel.update(0, publishedBy: 3) { $0.meter.takeMeasurement(of: $0.track, window: .milliseconds(400)) }
        #expect(measured == nil && panel.patches[3][0].meter.isTalking == false)
    }

    @Test func talkerIsCheckedUntilItIsSilent() {
        var panel = PatchPanel()
        panel.publish(track, by: 3)
        #expect(panel.endTalk(of: 3, at: .at(0)).isEmpty && panel.endTalk(of: 1, at: .at(0)).isEmpty)
        _ = panel.route(header(), publishedBy: 3, at: .at(0))
        #expect(panel.endTalk(of: 3, at: .at(100)).isEmpty)
        let ended = panel.endTalk(of: 3, at: .at(400))
        #expect(ended.map(\.track) == [track.sid] && ended.map(\.edge) == [.stopped(MediaTime(ticks: 960), .silence)])
        #expect(panel.endTalk(of: 3, at: .at(800)).isEmpty)
        // Released `ahead` frames are metered too.
        let begun = panel.meter(header(), of: 0, publishedBy: 3, at: .at(1_000))
        #expect(begun == .started(MediaTime(ticks: 0)) && panel.endTalk(of: 3, at: .at(2_000)).count == 1)
    }

    @Test func addingASubscriberTwiceHasNoEffect() {
        var panel = PatchPanel()
        panel.publish(track, by: 3)
        panel.add(subscriber: 5, to: track.alias, of: 3)
        panel.add(subscriber: 5, to: track.alias, of: 3)
        #expect(panel.patches[3][0].subscribers == [5])
        panel.remove(subscriber: 5, from: track.alias, of: 3)
        #expect(panel.patches[3][0].subscribers.isEmpty)
    }

    @Test func aliasesAreScopedByPublisher() {
        var panel = PatchPanel()
        panel.publish(track, by: 3)
        #expect(panel.index(of: track.alias, publishedBy: 3) == 0)
        #expect(panel.index(of: track.alias, publishedBy: 2) == nil)
        #expect(panel.index(of: track.alias, publishedBy: 400) == nil)
        panel.unpublish(track.alias, by: 3)
        #expect(panel.index(of: track.alias, publishedBy: 3) == nil)
        #expect(panel.count == 0)
    }
}
