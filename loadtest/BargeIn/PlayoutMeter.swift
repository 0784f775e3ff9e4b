import Audio
import PatchbayClient
import Synchronization
import Wire

/// Plays the assistant's track like an output device without a buffer, and counts audible samples.
final class PlayoutMeter: Sendable {
    struct Played: Sendable {
        var milliseconds = 0.0
        /// When the last audible sample was played.
        var lastSound: ContinuousClock.Instant?
    }

    private let state = Mutex(Played())
    private let chunks: AsyncStream<PCMChunk>

    init(to identity: String, in room: RoomConnection) async throws {
        var track: TrackInfo?
        while track == nil {
            track = room.snapshot.tracks.first { $0.participant == Identity(text: identity) }
            try await Task.sleep(for: .milliseconds(5))
        }
        chunks = room.pcm(of: track!.sid)
    }

    var played: Played { state.withLock { $0 } }

    func reset() { state.withLock { $0 = Played() } }

    func run() async {
        for await chunk in chunks {
            let now = ContinuousClock.now
            guard let last = chunk.samples.lastIndex(where: { abs($0) > 16 }) else { continue }
            state.withLock { played in
                played.milliseconds += Double(last + 1) / 48
                played.lastSound = now + .microseconds((last + 1) * 1_000 / 48)
            }
        }
    }
}
