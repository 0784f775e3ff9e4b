import Testing
import Wire

@testable import Engine

/// Replay to a shard that subscribes to a track of another shard.
struct AheadReplayTests {
    private let elsewhere = ParticipantHandle(shard: 1, slot: 0, generation: 0)

    /// Both replays are under way when the shard processes its mailbox: it has unsubscribed and subscribed again by then.
    @Test func resubscribingAtOnceReceivesFramesOnce() {
        var published = AheadWorld(subscribers: [])
        published.publish(3)
        var sent = replay(of: published, 1)
        published.publish(2)
        sent += replay(of: published, 2)
        #expect(taken(sent, awaiting: 2) == [0, 1, 2, 3, 4])
    }

    @Test func framesBeforeTheReplayMarkerAreRejected() {
        var published = AheadWorld(subscribers: [])
        published.publish(2)
        let early = replay(of: published, 1).dropFirst()
        #expect(taken(early + replay(of: published, 2), awaiting: 2) == [0, 1])
    }

    @Test func framesAfterTheReplayAreAccepted() {
        var published = AheadWorld(subscribers: [])
        published.publish(2)
        var sent = replay(of: published, 7)
        published.publish(1)
        published.track.withNewestFrame { sent.append(Array($0)) }
        #expect(taken(sent, awaiting: 7) == [0, 1, 2])
    }

    /// Frames that the publisher's shard sends for the subscription of that number.
    private func replay(of world: AheadWorld, _ number: UInt32) -> [[UInt8]] {
        var frames = [world.track.marker(ofReplay: number).bytes]
        world.track.replay(from: nil, at: .at(world.now)) { frames.append(Array($0)) }
        return frames
    }

    /// Sequence numbers that a shard accepts which awaits the subscription of that number.
    private func taken(_ sent: [[UInt8]], awaiting number: UInt32) -> [Int] {
        var track = AheadTrack(
            nil, alias: AheadWorld.alias, by: elsewhere, epoch: 0, frameMilliseconds: 20, awaiting: number, at: .at(0))
        return sent.compactMap { frame in
            frame.withUnsafeBytes { bytes in
                let header = FrameHeader(unchecked: bytes.baseAddress!)
                return track.accepts(bytes, header, from: elsewhere) ? Int(header.sequence.value) : nil
            }
        }
    }
}
