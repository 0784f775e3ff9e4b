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
        var voice = Voice()
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

    /// The assistant's track.
    private struct Voice {
        var sid: TrackSID?
        /// The end of what was played, by the track's epoch.
        var heardTo: [UInt8: MediaTime] = [:]
    }

    /// The assistant pauses for less time within an answer.
    private static let pauseBetweenAnswers = Duration.milliseconds(700)

    /// Samples by which the assistant's side of the recording may deviate from the clock before silence is inserted: 200 ms. A reader that
    /// was late catches up, and shifts nothing.
    private static let driftMax = 9_600

    let joinedAt: Instant
    private let hearsAnyTrack: Bool

    /// - Parameter hearsAnyTrack: whether the first track of another participant counts as the assistant's voice, too: those of other
    ///   frameworks publish a microphone.
    init(room: RoomConnection, hearsAnyTrack: Bool = false) async throws {
        self.room = room
        self.hearsAnyTrack = hearsAnyTrack
        joinedAt = MediaClock.now
        microphone = try await room.publish(name: "microphone")
    }

    /// The time on the axis of the recording, in milliseconds: two chunks behind the microphone's, which are being sent.
    var position: Int { state.withLock { $0.recording.user.count } / 48 - 40 }
    var hasVoice: Bool { state.withLock { $0.voice.sid != nil } }
    /// Whether a recording is being played into the microphone.
    var isSpeaking: Bool { state.withLock { !$0.waiting.isEmpty } }
    var recording: StereoRecording { state.withLock { $0.recording } }
    var answers: Int { state.withLock { $0.answers } }
    var speechBegan: Instant? { state.withLock { $0.speechBegan } }
    var answerBegan: Instant? { state.withLock { $0.answerBegan } }
    var lastHeard: Instant? { state.withLock { $0.lastHeard } }
    var speechEnded: Instant? { state.withLock { $0.speechEnded } }
    /// What was heard of the assistant since its last long pause, 48 kHz.
    var answer: [Int16] { state.withLock { $0.answer } }

    /// From the end of the recording's voice to the first sound of the answer; nil without an answer.
    var voiceToVoice: Duration? {
        state.withLock { state in
            guard let ended = state.speechEnded, let began = state.answerBegan else { return nil }
            return began - ended
        }
    }

    /// The end of what was played of an epoch of the assistant's track.
    func heardTo(inEpoch epoch: UInt8) -> MediaTime? { state.withLock { $0.voice.heardTo[epoch] } }

    /// Plays a recording into the microphone.
    ///
    /// - Returns: the index in the recording of its first sample.
    @discardableResult func say(_ sound: PCMBuffer) -> Int {
        let samples = (try? sound.mixedToMono().resampled(to: SpeechEncoder.sampleRate).samples) ?? []
        return state.withLock { state in
            let start = state.recording.user.count + state.waiting.count
            guard !samples.isEmpty else { return start }
            state.voiceLeft = state.waiting.count + Sound.voiceEnd(of: samples)
            state.waiting += samples
            (state.speechBegan, state.speechEnded, state.answerBegan) = (nil, nil, nil)
            return start
        }
    }

    func handle(_ event: RoomEvent) {
        for track in event.newTracks {
            state.withLock { state in
                let isVoice = track.source == .assistant || (hearsAnyTrack && state.voice.sid == nil)
                if isVoice { state.voice.sid = track.sid }
            }
        }
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
            guard let voice = state.withLock({ $0.voice.sid }) else {
                try? await Task.sleep(for: .milliseconds(20))
                continue
            }
            let clock = PlayoutClock()
            for await chunk in room.pcm(of: voice, clock: clock) {
                let played = clock.position
                let sound = Sound.firstAudible(in: chunk.samples)
                state.withLock { state in
                    if let played, let end = played.playedTo { state.voice.heardTo[played.epoch] = end }
                    // The user's side is the clock of the recording.
                    let missing = state.recording.user.count - state.recording.assistant.count - 2 * chunk.samples.count
                    if missing > (state.recording.assistant.isEmpty ? 0 : Self.driftMax) {
                        state.recording.assistant += [Int16](repeating: 0, count: missing)
                    }
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
