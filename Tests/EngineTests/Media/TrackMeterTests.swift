import Testing
import Wire

@testable import Engine

struct TrackMeterTests {
    /// A frame of 20 ms, `number` frames after the start.
    private func frame(_ number: Int, _ flags: FrameFlags = [], voice: Bool = true, level: Int = 30) -> FrameHeader {
        FrameHeader(
            flags: flags, alias: TrackAlias(1), sequence: SequenceNumber(UInt16(truncatingIfNeeded: number)),
            level: AudioLevelByte(voice: voice, level: level), timestamp: MediaTime(ticks: UInt32(number * 960)))
    }

    @Test func talkspurtFlagsDecide() {
        var meter = TrackMeter(frameMilliseconds: 20)
        let found1 = meter.record(frame(0, .talkspurtStart), at: .at(0))
        #expect(found1 == .started(MediaTime(ticks: 0)))
        let found2 = meter.record(frame(1), at: .at(20))
        #expect(found2 == nil)
        let found3 = meter.record(frame(2, .talkspurtEnd), at: .at(40))
        #expect(found3 == .stopped(MediaTime(ticks: 3 * 960), .end))
        let found4 = meter.tick(at: .at(10_000))
        #expect(found4 == nil)
    }

    @Test func withoutFlagsTheVoiceBitDecides() {
        var meter = TrackMeter(frameMilliseconds: 20)
        let found5 = meter.record(frame(0, voice: false, level: 70), at: .at(0))
        #expect(found5 == nil)
        let found6 = meter.record(frame(1), at: .at(20))
        #expect(found6 == .started(MediaTime(ticks: 960)))
    }

    @Test func missingFramesEndATalkspurt() {
        var meter = TrackMeter(frameMilliseconds: 20)
        _ = meter.record(frame(0, .talkspurtStart), at: .at(0))
        let found7 = meter.tick(at: .at(299))
        #expect(found7 == nil)
        let found8 = meter.tick(at: .at(300))
        #expect(found8 == .stopped(MediaTime(ticks: 960), .silence))
        let found9 = meter.tick(at: .at(900))
        #expect(found9 == nil)
    }

    @Test func silentFramesEndATalkspurt() {
        var meter = TrackMeter(frameMilliseconds: 20)
        _ = meter.record(frame(0, .talkspurtStart), at: .at(0))
        var end: Int?
        for number in 1..<100 where end == nil {
            _ = meter.record(frame(number, voice: false, level: 90), at: .at(number * 20))
            if meter.tick(at: .at(number * 20)) != nil { end = number * 20 }
        }
        #expect(end == 500)
    }

    @Test func newTalkspurtEndsTheUnfinishedOne() {
        var meter = TrackMeter(frameMilliseconds: 20)
        _ = meter.record(frame(0, .talkspurtStart), at: .at(0))
        let found10 = meter.record(frame(12, .talkspurtStart), at: .at(240))
        #expect(found10 == .restarted(MediaTime(ticks: 12 * 960), after: MediaTime(ticks: 960)))
    }

    @Test func levelIsMeasuredOncePerWindow() throws {
        var meter = TrackMeter(frameMilliseconds: 20)
        for number in 0..<20 { _ = meter.record(frame(number, level: number < 10 ? 25 : 60), at: .at(number * 20)) }
        let sid = TrackSID(text: "TR_1")
        let first = meter.takeMeasurement(of: sid, window: .milliseconds(400))
        #expect(first == TrackMeasurement(track: sid, windowMilliseconds: 400, activeMilliseconds: 200, loudestLevel: 25))
        let found11 = meter.takeMeasurement(of: sid, window: .milliseconds(400))
        #expect(found11 == nil)
    }
}
