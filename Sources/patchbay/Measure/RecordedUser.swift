import Audio
import Foundation
import OggOpus
import PatchbayClient
import Synchronization
import Wire

/// A user whose microphone plays recordings, and whose loudspeaker is recorded. Both run in real time.
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
        /// Samples of `waiting` up to the end of the recording's voice.
        var voiceLeft = 0
        /// When the voice of the recording being played began, and when it was last audible, by `MediaClock`.
        var speechBegan: Instant?
        var speechEnded: Instant?
        /// When the assistant was first and last audible since `say`.
        var answerBegan: Instant?
        var lastHeard: Instant?
        /// What was heard of the assistant since its last long pause.
        var answer: [Int16] = []
    }

    /// The assistant pauses for less time within an answer.
    private static let pauseBetweenAnswers = Duration.milliseconds(700)

    let joinedAt: Instant

    init(room: RoomConnection) async throws {
        self.room = room
        joinedAt = MediaClock.now
        microphone = try await room.publish(name: "microphone")
    }

    var recording: StereoRecording { state.withLock { $0.recording } }
    var answers: Int { state.withLock { $0.answers } }
    var speechBegan: Instant? { state.withLock { $0.speechBegan } }
    var answerBegan: Instant? { state.withLock { $0.answerBegan } }
    var lastHeard: Instant? { state.withLock { $0.lastHeard } }
    /// What was heard of the assistant since its last long pause, 48 kHz.
    var answer: [Int16] { state.withLock { $0.answer } }

    /// From the end of the recording's voice to the first sound of the answer; nil without an answer.
    var voiceToVoice: Duration? {
        state.withLock { state in
            guard let ended = state.speechEnded, let began = state.answerBegan else { return nil }
            return began - ended
        }
    }

    /// Plays a recording into the microphone.
    func say(_ sound: PCMBuffer) {
        guard let samples = try? sound.mixedToMono().resampled(to: SpeechEncoder.sampleRate).samples else { return }
        state.withLock { state in
            state.voiceLeft = state.waiting.count + Sound.voiceEnd(of: samples)
            state.waiting += samples
            (state.speechBegan, state.speechEnded, state.answerBegan) = (nil, nil, nil)
        }
    }

    func handle(_ event: RoomEvent) {
        for track in event.newTracks where track.source == .assistant { state.withLock { $0.voice = track.sid } }
        if case .gateway(.playoutFinished, _) = event { state.withLock { $0.answers += 1 } }
    }

    /// Speaks and listens until `leave()`.
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

    /// Waits until the assistant has finished speaking `count` times.
    func waitForAnswers(_ count: Int, within limit: Duration) async throws {
        try await wait(within: limit) { $0.answers >= count }
        try await Task.sleep(for: .milliseconds(400))
    }

    /// Waits until the assistant has been audible for `span`.
    func waitForSpeech(of span: Duration, within limit: Duration) async throws {
        try await wait(within: limit) { state in
            guard let began = state.answerBegan, let last = state.lastHeard else { return false }
            return last - began >= span
        }
    }

    /// Waits until the assistant has begun to answer what was said last.
    func waitForAnswerToBegin(within limit: Duration) async throws {
        try await wait(within: limit) { $0.waiting.isEmpty && $0.answerBegan != nil }
    }

    /// Waits until nobody has been audible for `span`.
    func waitForSilence(of span: Duration, within limit: Duration) async throws {
        try await wait(within: limit) { state in
            let last = max(state.lastHeard ?? state.speechBegan ?? MediaClock.now, state.speechEnded ?? Instant(nanoseconds: 0))
            return state.waiting.isEmpty && MediaClock.now - last >= span
        }
    }

    private func wait(within limit: Duration, until isTrue: @Sendable (State) -> Bool) async throws {
        let end = MediaClock.now + limit
        while !state.withLock({ isTrue($0) }) {
            guard MediaClock.now < end else { throw CommandFailure("the assistant did not answer in time") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    // MARK: Audio

    private func speak() async throws {
        var source = try microphone.makePCMSource()
        let silence = [Int16](repeating: 0, count: PCMChunk.samplesPerChannel)
        while !state.withLock({ $0.hasLeft }) {
            let (samples, voice) = state.withLock { state -> ([Int16], Int) in
                let voice = min(state.voiceLeft, silence.count)
                state.voiceLeft -= voice
                var samples = Array(state.waiting.prefix(silence.count))
                state.waiting.removeFirst(samples.count)
                samples += silence.dropFirst(samples.count)
                state.recording.user += samples
                return (samples, voice)
            }
            do { try await source.write(samples) } catch RequestFailure.ended { return }
            guard voice > 0 else { continue }
            let isVoice = AudioLevel(of: samples).value < 35
            state.withLock { state in
                if isVoice { state.speechBegan = state.speechBegan ?? MediaClock.now }
                // The last sample is recorded now.
                state.speechEnded = MediaClock.now + (.zero - Sound.duration(of: silence.count - voice))
                state.answerBegan = nil
            }
        }
    }

    private func listen() async {
        while !state.withLock({ $0.hasLeft }) {
            guard let voice = state.withLock({ $0.voice }) else {
                try? await Task.sleep(for: .milliseconds(20))
                continue
            }
            for await chunk in room.pcm(of: voice) {
                let sound = Sound.firstAudible(in: chunk.samples)
                state.withLock { state in
                    // The user's side is the clock of the recording.
                    let missing = state.recording.user.count - state.recording.assistant.count - 2 * chunk.samples.count
                    if missing > 0 { state.recording.assistant += [Int16](repeating: 0, count: missing) }
                    state.recording.assistant += chunk.samples
                    let now = MediaClock.now
                    if sound != nil, state.lastHeard.map({ now - $0 > Self.pauseBetweenAnswers }) ?? true { state.answer = [] }
                    state.answer += chunk.samples
                    guard let sound else { return }
                    // The first sample is played now.
                    state.answerBegan = state.answerBegan ?? now + Sound.duration(of: sound)
                    state.lastHeard = now
                }
            }
            return
        }
    }
}

/// Finds sounds in 48 kHz PCM, to 5 ms, and the end of a voice, to 10 ms.
private enum Sound {
    private static let pieceSize = 240
    /// Sounds are louder than −50 dBov.
    private static let audible = 50
    /// A voice is louder than −45 dBov, and at most 30 dB below the loudest sound, so that the noise of a recording is none.
    private static let voice = 45
    private static let range = 30

    static func duration(of samples: Int) -> Duration { .nanoseconds(Int64(samples) * 62_500 / 3) }

    /// The index of the first audible sample.
    static func firstAudible(in samples: [Int16]) -> Int? {
        pieces(of: samples, pieceSize).first { $0.level < audible }?.range.lowerBound
    }

    /// The index after the last sample with voice.
    static func voiceEnd(of samples: [Int16]) -> Int {
        let pieces = pieces(of: samples, 2 * pieceSize)
        let loudest = pieces.map(\.level).min() ?? 127
        return pieces.last { $0.level < min(voice, loudest + range) }?.range.upperBound ?? samples.count
    }

    /// Pieces and their levels in −dBov.
    private static func pieces(of samples: [Int16], _ size: Int) -> [(range: Range<Int>, level: Int)] {
        stride(from: 0, to: samples.count, by: size).map { start in
            let range = start..<min(start + size, samples.count)
            return (range, Int(AudioLevel(of: Array(samples[range])).value))
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
        let speech = try PCMSpeech(
            PCMBuffer(samples: stereo, channels: 2), settings: SpeechSettings(bitsPerSecond: 64_000, channels: 2))
        let head = OpusHead(channels: 2, preSkip: speech.preSkip)
        try OggOpusWriter.write(speech.frames(), head, to: path)
    }
}

extension OggOpusWriter {
    /// Writes a whole file.
    static func write(_ frames: [SpokenFrame], _ head: OpusHead, to path: String) throws {
        var writer = try OggOpusWriter(head)
        var file = try writer.start()
        for frame in frames { file += try writer.append(frame.packet) }
        file += try writer.finish()
        try Data(file).write(to: URL(filePath: path))
    }
}
