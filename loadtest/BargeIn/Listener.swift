import Audio
import PatchbayClient
import Synchronization
import Wire

/// Plays the assistant's track as an output device without a buffer would, and counts what is to be heard.
final class Listener: Sendable {
    struct Heard: Sendable {
        var milliseconds = 0.0
        /// When the last sample that is not silent has left.
        var lastSound: ContinuousClock.Instant?
    }

    private let state = Mutex(Heard())
    private let sound: AsyncStream<PCMChunk>

    init(to identity: String, in room: RoomConnection) async throws {
        var track: TrackInfo?
        while track == nil {
            track = room.snapshot.tracks.first { $0.participant == Identity(text: identity) }
            try await Task.sleep(for: .milliseconds(5))
        }
        sound = room.pcm(of: track!.sid)
    }

    var heard: Heard { state.withLock { $0 } }

    func beginCounting() { state.withLock { $0 = Heard() } }

    func run() async {
        for await chunk in sound {
            let now = ContinuousClock.now
            guard let last = chunk.samples.lastIndex(where: { abs($0) > 16 }) else { continue }
            state.withLock { heard in
                heard.milliseconds += Double(last + 1) / 48
                heard.lastSound = now + .microseconds((last + 1) * 1_000 / 48)
            }
        }
    }
}
