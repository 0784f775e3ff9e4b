import Engine
import Testing
import Wire

/// Frames that are on their way from one shard to another while their publisher comes back on a third.
struct AheadOnTheWayTests {
    private let old = ParticipantHandle(shard: 0, slot: 0, generation: 0)
    private let new = ParticipantHandle(shard: 1, slot: 0, generation: 0)

    /// Without it the shard would wait for its replay until nobody listened there any more.
    @Test func aMarkThatSetOutBeforeThePublisherMovedIsFound() {
        var (tracks, place) = options()
        tracks.rename(place, to: new)
        #expect(carry(tracks.tracks[place].marker(ofReplay: 1).bytes, from: old, into: &tracks) == false)
        #expect(carry(frame(0), from: old, into: &tracks) == true)
        #expect(carry(frame(1), from: new, into: &tracks) == true)
    }

    @Test func orderNeverGoesBack() {
        var (tracks, place) = options()
        tracks.rename(place, to: new)
        _ = carry(tracks.tracks[place].marker(ofReplay: 1).bytes, from: old, into: &tracks)
        #expect(carry(frame(5), from: new, into: &tracks) == true)
        #expect(carry(frame(4), from: old, into: &tracks) == false)
    }

    @Test func whoWasGivenTheWholeQueueTakesNothingTwice() {
        var (tracks, place) = options()
        var queue = AheadWorld(subscribers: [])
        queue.publish(5)
        tracks.rename(place, to: new)
        tracks.takeOver(place, queue.track.handOver())
        #expect(carry(frame(4), from: old, into: &tracks) == nil)
    }

    @Test func whatHasEndedIsFoundUnderNoHandle() {
        var (tracks, place) = options()
        tracks.rename(place, to: new)
        tracks.close(place)
        #expect(tracks.index(forFrameOf: AheadWorld.alias, from: old) == nil)
        #expect(tracks.index(forFrameOf: AheadWorld.alias, from: new) == nil)
    }

    /// A shard that has just begun to listen.
    private func options() -> (AheadTracks, place: Int) {
        var tracks = AheadTracks()
        let place = tracks.open(
            AheadTrack(nil, alias: AheadWorld.alias, by: old, epoch: 0, frameMilliseconds: 20, awaiting: 1, at: .at(0)))
        return (tracks, place)
    }

    private func frame(_ number: Int) -> [UInt8] {
        FrameHeader(
            alias: AheadWorld.alias, sequence: SequenceNumber(UInt16(number)), level: AudioLevelByte(voice: true, level: 30),
            timestamp: MediaTime(ticks: UInt32(number * AheadWorld.frameTicks))
        ).bytes + [1]
    }

    /// Whether what came from that publisher's shard is taken; nil if there is nothing that it could be of.
    private func carry(_ bytes: [UInt8], from publisher: ParticipantHandle, into tracks: inout AheadTracks) -> Bool? {
        bytes.withUnsafeBytes { frame in
            let header = FrameHeader(unchecked: frame.baseAddress!)
            guard let place = tracks.index(forFrameOf: header.alias, from: publisher) else { return nil }
            guard tracks.tracks[place].accepts(frame, header, from: publisher) else { return false }
            return tracks.append(frame, header, to: place, at: .at(0)) == nil
        }
    }
}
