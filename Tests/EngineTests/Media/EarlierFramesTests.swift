import Testing
import Wire

@testable import Engine

/// The frames of a microphone that are kept for an agent on its way.
struct EarlierFramesTests {
    private static func track(frameMs: Double = 20, _ sid: String = "TR_1") -> TrackInfo {
        TrackInfo(
            sid: TrackSID(text: sid), alias: TrackAlias(7), participant: Identity(text: "alice"),
            description: PublishTrack(frameMs: frameMs))
    }

    private static func frame(_ number: Int, bytes: Int = 80) -> [UInt8] {
        FrameHeader(
            alias: TrackAlias(7), sequence: SequenceNumber(UInt16(truncatingIfNeeded: number)),
            level: AudioLevelByte(voice: true, level: 20),
            timestamp: MediaTime(ticks: UInt32(number * 960))
        ).bytes + (0..<bytes).map { UInt8(truncatingIfNeeded: $0 + number) }
    }

    @discardableResult
    private static func append(_ number: Int, bytes: Int = 80, to frames: inout EarlierFrames) -> Int {
        frame(number, bytes: bytes).withUnsafeBytes {
            frames.append($0, at: MediaTime(ticks: UInt32(number * 960)), arrived: .at(number * 20))
        }
    }

    private static func kept(_ frames: EarlierFrames, since: Instant? = nil) -> [[UInt8]] {
        var kept: [[UInt8]] = []
        frames.forEach(since: since) { kept.append(Array($0)) }
        return kept
    }

    @Test func framesAreKeptAsPublishedInOrder() {
        var frames = EarlierFrames(Self.track())
        #expect(frames.span(since: nil) == nil && Self.kept(frames).isEmpty)
        for number in 0..<100 { #expect(Self.append(number, to: &frames) == 0) }
        #expect(Self.kept(frames) == (0..<100).map { Self.frame($0) })
        #expect(frames.span(since: nil) == EarlierFrames.Span(frames: 100, start: MediaTime(ticks: 0), end: MediaTime(ticks: 96_000)))
    }

    @Test(arguments: [2.5, 10, 20, 60, 120])
    func fiveSecondsAreKeptAndTheOldestFramesGo(frameMs: Double) {
        var frames = EarlierFrames(Self.track(frameMs: frameMs))
        let most = Int(5_000 / frameMs)
        let replaced = (0..<most + 30).reduce(0) { $0 + Self.append($1, bytes: 5, to: &frames) }
        #expect(replaced == 30 && frames.count == most)
        #expect(Self.kept(frames) == (30..<most + 30).map { Self.frame($0, bytes: 5) })
    }

    @Test func memoryIsBoundedAndWrapsAround() {
        var frames = EarlierFrames(Self.track(), bytesMax: 4_000)
        for number in 0..<1_000 {
            // 12 to 1,500 bytes with the header.
            Self.append(number, bytes: 1 + number * 37 % 1_488, to: &frames)
            let kept = Self.kept(frames)
            #expect(kept.last == Self.frame(number, bytes: 1 + number * 37 % 1_488))
            let first = number - kept.count + 1
            #expect(kept == (first...number).map { Self.frame($0, bytes: 1 + $0 * 37 % 1_488) })
            #expect(kept.reduce(0) { $0 + $1.count } <= 4_000)
        }
        #expect(frames.count >= 2)
    }

    @Test func framesOfAnAbandonedTimelineAreDropped() {
        var frames = EarlierFrames(Self.track())
        for number in 100..<110 { Self.append(number, to: &frames) }
        #expect(Self.append(3, to: &frames) == 10)
        Self.append(4, to: &frames)
        #expect(Self.kept(frames) == [Self.frame(3), Self.frame(4)])
        #expect(frames.span(since: nil) == EarlierFrames.Span(frames: 2, start: MediaTime(ticks: 3 * 960), end: MediaTime(ticks: 5 * 960)))
    }

    @Test func laterAgentGetsOnlyWhatFollowedItsRequest() {
        var frames = EarlierFrames(Self.track())
        for number in 0..<50 { Self.append(number, to: &frames) }
        #expect(Self.kept(frames, since: .at(40 * 20)) == (40..<50).map { Self.frame($0) })
        #expect(frames.span(since: .at(40 * 20))?.frames == 10 && frames.span(since: .at(1_000)) == nil)
    }

    @Test func framesAreTooOldAfterAWhile() {
        var speech = EarlierSpeech(tracksMax: 2)
        let index = speech.begin(Self.track())
        for number in 0..<100 {
            _ = Self.frame(number).withUnsafeBytes {
                speech.append($0, at: MediaTime(ticks: UInt32(number * 960)), to: index, arrived: .at(number * 20))
            }
        }
        #expect(speech.expire(at: .at(15_000)) == 0 && speech[index]?.count == 100)
        #expect(speech.expire(at: .at(16_000)) == 50 && speech[index]?.count == 50)
        speech.markSent(index)
        #expect(speech.expire(at: .at(60_000)) == 0 && speech[index]?.count == 0)
    }

    @Test func trackBeyondTheLimitEvictsTheOneKeptLongest() {
        var speech = EarlierSpeech(tracksMax: 2)
        let first = speech.begin(Self.track("TR_1"))
        #expect(speech.evicted == nil)
        let second = speech.begin(Self.track("TR_2"))
        #expect(speech.evicted == first)
        _ = Self.frame(0).withUnsafeBytes { speech.append($0, at: MediaTime(ticks: 0), to: first, arrived: .at(0)) }
        #expect(speech.end(first) == 1, "no agent has received it")
        let third = speech.begin(Self.track("TR_3"))
        #expect(third == first && speech.evicted == second && speech.count == 2 && speech[third]?.count == 0)
    }

    @Test func recordsOfATrunkAreToldFromFramesAndSayWhatTheyCarry() throws {
        let agent = ParticipantHandle(shard: 3, slot: 70_000, generation: 9)
        var frames = EarlierFrames(Self.track())
        for number in 5..<8 { Self.append(number, to: &frames) }
        var records: [[UInt8]] = []
        var required: [Bool] = []
        EarlierRecord.forEach(of: frames, since: nil, TrackAlias(7), to: agent) {
            records.append($0)
            required.append($1)
        }
        #expect(required == [true, false, false, false, true])
        let parsed = records.map { bytes in bytes.withUnsafeBytes { EarlierRecord($0) } }
        #expect(parsed.map { $0?.kind } == [.announcement, .frame, .frame, .frame, .end])
        #expect(parsed.allSatisfy { $0?.alias == TrackAlias(7) && $0?.agent == agent })
        // They keep their place among the frames of their track.
        #expect(records.allSatisfy { $0.withUnsafeBytes { FrameHeader(unchecked: $0.baseAddress!).alias } == TrackAlias(7) })
        let event = records[0].withUnsafeBytes { EarlierRecord.event(in: EarlierRecord.payload(of: $0)) }
        #expect(
            event
                == .talkEarlier("alice", TrackSID(text: "TR_1"), from: MediaTime(ticks: 4_800), live: MediaTime(ticks: 7_680)))
        #expect(records[1...3].map { $0.withUnsafeBytes { Array(EarlierRecord.payload(of: $0)) } } == (5..<8).map { Self.frame($0) })
        let isRecord = Self.frame(1).withUnsafeBytes { EarlierRecord($0) != nil }
        #expect(!isRecord)
    }

    @Test func keptTrackHasOtherTargetsAndOthersPayNothing() {
        var panel = PatchPanel()
        let header = FrameHeader(
            alias: TrackAlias(7), sequence: SequenceNumber(1), level: AudioLevelByte(voice: false, level: 60),
            timestamp: MediaTime(ticks: 0))
        panel.publish(Self.track(), by: 3)
        func hasOtherTargets() -> Bool? {
            if case .live(_, _, _, let others) = panel.route(header, publishedBy: 3, at: .at(0)) { others } else { nil }
        }
        #expect(hasOtherTargets() == false)
        panel.setKept(0, of: TrackAlias(7), by: 3)
        #expect(hasOtherTargets() == true)
        panel.move(TrackAlias(7), from: 3, to: 4)
        #expect(panel.patches[4][0].kept == 0)
        panel.forgetKept(0)
        panel.move(TrackAlias(7), from: 4, to: 3)
        #expect(hasOtherTargets() == false)
    }

    @Test func timeInTheOutboxDoesNotCountForEarlierFramesButTheyExpire() throws {
        var store = FrameStore(headroom: 0)
        var outbox = Outbox(ageMax: .seconds(2))
        let frames = try (0..<3).map { number in try #require(Self.frame(number).withUnsafeBytes { store.store($0) }) }
        outbox.append(frames[0], of: TrackAlias(7), at: .at(0), isEarlier: true) { _ in }
        outbox.append(frames[1], of: TrackAlias(7), at: .at(1_000), isEarlier: true) { _ in }
        outbox.append(frames[2], of: TrackAlias(7), at: .at(1_020)) { _ in }
        outbox.dropExpired(at: .at(2_500)) { #expect($0 == frames[0]) }
        let (earlier, live) = (outbox.next(allowsFrame: true), outbox.next(allowsFrame: true))
        #expect(earlier == .frame(frames[1], afterDrop: true, since: nil) && live == .frame(frames[2], afterDrop: false, since: .at(1_020)))
    }

    @Test func agentOnAnotherShardWaitsForTheEndOfEarlierSpeech() {
        var tracks = RemoteTracks()
        let ann = ParticipantHandle(shard: 1, slot: 4, generation: 0)
        let end = EarlierRecord(.end, TrackAlias(1), ParticipantHandle(shard: 0, slot: 9, generation: 0))
        // The record may arrive before the subscription of its agent.
        #expect(!tracks.isAwaiting(end, of: ann))
        tracks.add(subscriber: 8, to: TrackAlias(1), of: ann)
        tracks.add(awaiting: 9, to: TrackAlias(1), of: ann)
        #expect(tracks.subscribers(to: TrackAlias(1), of: ann) == [8] && tracks.isAwaiting(end, of: ann))
        tracks.add(subscriber: 9, to: TrackAlias(1), of: ann)
        #expect(tracks.subscribers(to: TrackAlias(1), of: ann) == [8, 9] && !tracks.isAwaiting(end, of: ann))
        // It must not wait for what was sent under an old handle.
        let back = ParticipantHandle(shard: 2, slot: 1, generation: 0)
        tracks.add(awaiting: 10, to: TrackAlias(1), of: ann)
        tracks.move(TrackAlias(1), from: ann, to: back)
        #expect(tracks.subscribers(to: TrackAlias(1), of: back) == [8, 9, 10])
        for slot in [8, 9, 10] as [UInt32] { tracks.remove(subscriber: slot, from: TrackAlias(1), of: back) }
        tracks.add(awaiting: 11, to: TrackAlias(1), of: back)
        tracks.remove(subscriber: 11, from: TrackAlias(1), of: back)
        #expect(tracks.count == 0)
    }
}
