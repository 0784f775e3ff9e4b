import Audio
import OggOpus
import PatchbayAgents
import Testing
import Wire

@testable import PatchbayClient

struct OggSpeechTests {
    private let packets: [[UInt8]]

    init() throws {
        packets = try PCMSpeech(Sound.tone(milliseconds: 500)).frames().map(\.packet)
    }

    private func file(gapAfter place: Int? = nil) throws -> [UInt8] {
        var writer = try OggOpusWriter(OpusHead())
        var bytes: [UInt8] = []
        for (index, packet) in packets.enumerated() {
            bytes += try writer.append(packet)
            if index == place { bytes += try writer.appendGap(ticks: 4_800) }
        }
        return bytes + (try writer.finish())
    }

    private func frames(_ bytes: [UInt8]) throws -> [SpokenFrame] {
        var speech = try OggSpeech(bytes)
        #expect(speech.ticksPerPacket == 960)
        var frames: [SpokenFrame] = []
        while let frame = try speech.next() { frames.append(frame) }
        return frames
    }

    @Test func packetsAreUnchanged() throws {
        let frames = try frames(file())
        #expect(frames.map(\.packet) == packets)
        #expect(frames.first?.flags == .talkspurtStart)
        #expect(frames.last?.flags == .talkspurtEnd)
        #expect(frames.allSatisfy { $0.silenceBefore == 0 })
    }

    @Test func levelsAreMeasured() throws {
        let frames = try frames(file())
        #expect(frames[5].level.isVoice)
        #expect(8...30 ~= frames[5].level.level)
    }

    @Test func invalidOggIsRejected() {
        #expect(throws: OggOpusError.self) { _ = try OggSpeech([1, 2, 3]) }
    }
}
