import Testing
import Wire

@testable import Engine

/// Frames under way from one shard to another while their publisher resumes on a third.
struct AheadInFlightTests {
    private let old = ParticipantHandle(shard: 0, slot: 0, generation: 0)
    private let new = ParticipantHandle(shard: 1, slot: 0, generation: 0)

    /// Without the marker the shard would wait for its replay until it has no subscribers left.
    @Test func markerSentBeforeTheMoveIsMatched() {
        var (tracks, position) = options()
        tracks.rename(position, to: new)
        #expect(carry(tracks.tracks[position].marker(ofReplay: 1).bytes, from: old, into: &tracks) == false)
        #expect(carry(frame(0), from: old, into: &tracks) == true)
        #expect(carry(frame(1), from: new, into: &tracks) == true)
    }

    @Test func orderIsMonotonic() {
        var (tracks, position) = options()
        tracks.rename(position, to: new)
        _ = carry(tracks.tracks[position].marker(ofReplay: 1).bytes, from: old, into: &tracks)
        #expect(carry(frame(5), from: new, into: &tracks) == true)
        #expect(carry(frame(4), from: old, into: &tracks) == false)
    }

    @Test func shardWithTheWholeQueueAcceptsNoFrameTwice() {
        var (tracks, position) = options()
        var queue = AheadWorld(subscribers: [])
        queue.publish(5)
        tracks.rename(position, to: new)
        tracks.takeOver(position, queue.track.handOver())
        #expect(carry(frame(4), from: old, into: &tracks) == nil)
    }

    @Test func endedTrackIsFoundUnderNoHandle() {
        var (tracks, position) = options()
        tracks.rename(position, to: new)
        tracks.close(position)
        #expect(tracks.index(forFrameOf: AheadWorld.alias, from: old) == nil)
        #expect(tracks.index(forFrameOf: AheadWorld.alias, from: new) == nil)
    }

    /// A shard that has just subscribed.
    private func options() -> (AheadTracks, position: Int) {
        var tracks = AheadTracks()
        let position = tracks.open(
            AheadTrack(nil, alias: AheadWorld.alias, by: old, epoch: 0, frameMilliseconds: 20, awaiting: 1, at: .at(0)))
        return (tracks, position)
    }

    private func frame(_ number: Int) -> [UInt8] {
        FrameHeader(
            alias: AheadWorld.alias, sequence: SequenceNumber(UInt16(number)), level: AudioLevelByte(voice: true, level: 30),
            timestamp: MediaTime(ticks: UInt32(number * AheadWorld.frameTicks))
        ).bytes + [1]
    }

    /// Whether a frame of that publisher is accepted; nil if no track matches it.
    private func carry(_ bytes: [UInt8], from publisher: ParticipantHandle, into tracks: inout AheadTracks) -> Bool? {
        bytes.withUnsafeBytes { frame in
            let header = FrameHeader(unchecked: frame.baseAddress!)
            guard let position = tracks.index(forFrameOf: header.alias, from: publisher) else { return nil }
            guard tracks.tracks[position].accepts(frame, header, from: publisher) else { return false }
            return tracks.append(frame, header, to: position, at: .at(0)) == nil
        }
    }
}
