import Audio
import Foundation
import PatchbayClient
import Synchronization
import Wire

/// A user whose microphone plays recordings, and whose loudspeaker is recorded.
final class RecordedUser: Sendable {
    let room: RoomConnection
    private let microphone: LocalTrack
    private let state = Mutex(State())

    private struct State {
        var waiting: [Int16] = []
        var recording = StereoRecording()
        var hasLeft = false
        /// Utterances of the assistant that were played.
        var answers = 0
        var voice: TrackSID?
    }

    init(room: RoomConnection) async throws {
        self.room = room
        microphone = try await room.publish(name: "microphone")
    }

    var recording: StereoRecording { state.withLock { $0.recording } }

    /// Plays a recording into the microphone.
    func say(_ sound: PCMBuffer) {
        guard let samples = try? sound.mixedToMono().resampled(to: SpeechEncoder.sampleRate).samples else { return }
        state.withLock { $0.waiting += samples }
    }

    func handle(_ event: RoomEvent) {
        for track in event.newTracks where track.source == .assistant { state.withLock { $0.voice = track.sid } }
        if case .gateway(.playoutFinished, _) = event { state.withLock { $0.answers += 1 } }
    }

    /// Speaks and listens in real time until `leave()`.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.speak() }
            group.addTask { await self.listen() }
            try await group.waitForAll()
        }
    }

    func leave() async {
        state.withLock { $0.hasLeft = true }
        await room.leave()
    }

    /// Waits until the assistant has finished speaking `turns` times.
    func waitForSilence(turns: Int, within limit: Duration, turn: Int) async throws {
        let end = MediaClock.now + limit
        while state.withLock({ $0.answers < turns }) {
            guard MediaClock.now < end else { throw ConversationDemo.NoAnswer(turn: turn) }
            try await Task.sleep(for: .milliseconds(50))
        }
        try await Task.sleep(for: .milliseconds(400))
    }

    private func speak() async throws {
        var source = try microphone.makePCMSource()
        let silence = [Int16](repeating: 0, count: PCMChunk.samplesPerChannel)
        while !state.withLock({ $0.hasLeft }) {
            let samples = state.withLock { state -> [Int16] in
                var samples = Array(state.waiting.prefix(silence.count))
                state.waiting.removeFirst(samples.count)
                samples += silence.dropFirst(samples.count)
                state.recording.user += samples
                return samples
            }
            do { try await source.write(samples) } catch RequestFailure.ended { return }
        }
    }

    private func listen() async {
        while !state.withLock({ $0.hasLeft }) {
            guard let voice = state.withLock({ $0.voice }) else {
                try? await Task.sleep(for: .milliseconds(20))
                continue
            }
            for await chunk in room.pcm(of: voice) {
                state.withLock { state in
                    // The user's side is the clock of the recording.
                    let missing = state.recording.user.count - state.recording.assistant.count - 2 * chunk.samples.count
                    if missing > 0 { state.recording.assistant += [Int16](repeating: 0, count: missing) }
                    state.recording.assistant += chunk.samples
                }
            }
            return
        }
    }
}

/// Both sides of a conversation, 48 kHz: the user on the left, the assistant on the right.
struct StereoRecording: Sendable {
    var user: [Int16] = []
    var assistant: [Int16] = []

    /// Writes an Ogg Opus file.
    func write(to path: String) throws {
        let count = max(user.count, assistant.count)
        var stereo = [Int16](repeating: 0, count: 2 * count)
        for (index, sample) in user.enumerated() { stereo[2 * index] = sample }
        for (index, sample) in assistant.enumerated() { stereo[2 * index + 1] = sample }
        var speech = try PCMSpeech(
            PCMBuffer(samples: stereo, channels: 2), settings: SpeechSettings(bitsPerSecond: 64_000, channels: 2))
        var writer = try OggOpusWriter(OpusHead(channels: 2, preSkip: speech.preSkip))
        var file = try writer.start()
        while let frame = try speech.next() { file += try writer.append(frame.packet) }
        file += try writer.finish()
        try Data(file).write(to: URL(filePath: path))
    }
}
