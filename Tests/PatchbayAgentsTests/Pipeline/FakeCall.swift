import Audio
import Foundation
import Logging
import PatchbayClient
import Synchronization
import Wire

@testable import PatchbayAgents

/// A call with a pipeline in a fake room. Its time passes only while the test waits for it.
struct FakeCall {
    let clock: TestClock
    let room: FakeRoom
    let pipeline: VoicePipeline
    private let userName: String

    /// - Parameter isRealTime: for engines that need real time.
    init(
        _ engines: AgentEngines, definition: AssistantDefinition = AssistantDefinition(id: "test"), userName: String = "Alice",
        preferences: SpeechPreferences = SpeechPreferences(), settings: TurnSettings = TurnSettings(),
        logger: Logger = Logger(label: "patchbay.agent"), isRealTime: Bool = false
    ) {
        let clock = TestClock(isRealTime: isRealTime)
        self.clock = clock
        room = FakeRoom(clock)
        let time = PipelineClock(
            now: { clock.now }, sleep: { try await clock.sleep($0) }, moment: { (Date(timeIntervalSince1970: 1_795_791_900), .gmt) })
        let speech = ConversationSpeech(definition, preferences, engines.languages)
        let configuration = PipelineConfiguration(
            speech: speech, engines: engines, phrases: AssistantPhrases(language: speech.announced), instructions: definition.instructions,
            logger: logger, clock: time, onMetrics: { _ in })
        pipeline = VoicePipeline(configuration, settings)
        self.userName = userName
    }

    /// Runs the pipeline while `body` plays the user.
    ///
    /// - Parameter before: what the user, who is in the room already, has said before the assistant comes.
    func run(before: Speech? = nil, _ body: @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            await pipeline.attach(to: room)
            group.addTask { await pipeline.run() }
            group.addTask { await room.reportPlayout(to: pipeline) }
            group.addTask { await clock.run(pipeline) }
            if let before {
                await pipeline.take(.microphone(FakeRoom.microphone))
                await pipeline.take(.userJoined(FakeRoom.user, name: userName))
                for frame in try frames(of: before) { await pipeline.take(.frame(before.track.sid, frame)) }
            } else {
                await pipeline.take(.userJoined(FakeRoom.user, name: userName))
                await pipeline.take(.microphone(FakeRoom.microphone))
            }
            try await body()
            await pipeline.end()
            group.cancelAll()
        }
    }

    /// What a user says: a tone for speech, whose level varies as that of a voice does, then silence.
    struct Speech {
        var track = FakeRoom.microphone
        var speech: Duration
        var silence = Duration.zero
        var start: UInt32 = 0

        var pcm: [Int16] {
            let tone = (0..<Int(speech.inMilliseconds) * 48).map { index in
                let level = index / 4_800 % 2 == 0 ? 9_000 : 1_500
                return Int16(index / 60 % 2 == 0 ? level : -level)
            }
            return tone + [Int16](repeating: 0, count: Int(silence.inMilliseconds) * 48)
        }
    }

    /// Frames of earlier speech, which arrive at once.
    private func frames(of speech: Speech) throws -> [ReceivedFrame] {
        var encoder = try SpeechEncoder()
        return try (encoder.encode(speech.pcm) + encoder.finish()).enumerated().map { index, frame in
            let header = FrameHeader(
                flags: frame.flags, alias: speech.track.alias, sequence: SequenceNumber(UInt16(index)), level: frame.level,
                timestamp: MediaTime(ticks: speech.start &+ UInt32(960 * index)))
            return ReceivedFrame(header: header, packet: frame.packet, arrivedAt: clock.now, isEarlier: true)
        }
    }

    /// The first user speaks.
    ///
    /// - Returns: the timestamp after it.
    func says(for speech: Duration, thenSilence silence: Duration, from start: UInt32) async throws -> UInt32 {
        try await say(Speech(speech: speech, silence: silence, start: start))[0]
    }

    /// Several users begin to speak at the same time.
    ///
    /// - Returns: the timestamps after it.
    @discardableResult
    func say(_ speeches: Speech...) async throws -> [UInt32] {
        try await play(speeches.map { ($0.track, $0.pcm, $0.start) })
    }

    /// The users' microphones: 48 kHz PCM that begins at the same time.
    @discardableResult
    func play(_ sounds: [(track: TrackInfo, pcm: [Int16], start: UInt32)]) async throws -> [UInt32] {
        try await clock.drive {
            let frames = try sounds.map { sound in
                var encoder = try SpeechEncoder()
                return try encoder.encode(sound.pcm) + encoder.finish()
            }
            let began = clock.now
            for index in 0..<(frames.map(\.count).max() ?? 0) {
                try await clock.wait(until: began + .milliseconds(20 * index))
                for (sound, frames) in zip(sounds, frames) where index < frames.count {
                    let frame = frames[index]
                    let header = FrameHeader(
                        flags: frame.flags, alias: sound.track.alias, sequence: SequenceNumber(UInt16(truncatingIfNeeded: index)),
                        level: frame.level, timestamp: MediaTime(ticks: sound.start &+ UInt32(960 * index)))
                    let received = ReceivedFrame(header: header, packet: frame.packet, arrivedAt: clock.now)
                    await pipeline.take(.frame(sound.track.sid, received))
                }
            }
            return zip(sounds, frames).map { $0.start &+ UInt32(960 * $1.count) }
        }
    }

    /// Waits for a condition.
    func until(_ limit: Duration = .seconds(60), _ condition: () -> Bool) async throws {
        try await clock.drive {
            let end = clock.now + limit
            while !condition() {
                guard clock.now < end else { throw TimedOut() }
                try await clock.wait(until: clock.now + .milliseconds(10))
            }
        }
    }

    func wait(_ span: Duration) async throws {
        try await clock.drive { try await clock.wait(until: clock.now + span) }
    }

    struct TimedOut: Error {}
}

/// The time of a call. It passes only while the test waits for it, and not before the call has done what is due, so that no pause of the machine
/// makes anybody late.
final class TestClock: Sendable {
    private struct Sleeper {
        let id: Int
        let deadline: Instant
        /// The test waits, rather than the call.
        let isTest: Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(nanoseconds: 1_000_000_000)
        var sleepers: [Sleeper] = []
        var lastID = 0
        /// Parts of the test that are at work, during which no time passes.
        var working = 0
        /// Tasks of the call, and whether they have ended or are not waited for any more.
        var tasks: [Task<Void, Never>: Bool] = [:]
    }

    private static let step = Duration.milliseconds(10)
    /// Time goes on although a task of the call has not ended for so long: it waits for something that does not come.
    private static let stallMax = Duration.milliseconds(500)

    private let state = Mutex(State())
    private let isRealTime: Bool

    init(isRealTime: Bool) {
        self.isRealTime = isRealTime
    }

    var now: Instant { state.withLock { $0.now } }

    /// For the call.
    func sleep(_ span: Duration) async throws { try await sleep(until: now + span, isTest: false) }

    /// No time passes during `body`, except while it waits.
    func drive<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.working += 1 }
        defer { state.withLock { $0.working -= 1 } }
        return try await body()
    }

    /// Within `drive`.
    func wait(until deadline: Instant) async throws {
        try await sleep(until: deadline, isTest: true)
        try Task.checkCancellation()
    }

    private func sleep(until deadline: Instant, isTest: Bool) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || deadline <= state.now { return true }
                    state.sleepers.append(Sleeper(id: id, deadline: deadline, isTest: isTest, continuation: continuation))
                    if isTest { state.working -= 1 }
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            wake(throwing: CancellationError()) { $0.id == id }
        }
    }

    private func wake(throwing error: (any Error)? = nil, where isDue: (Sleeper) -> Bool) {
        let due = state.withLock { state in
            let due = state.sleepers.filter(isDue).sorted { $0.deadline < $1.deadline }
            state.sleepers.removeAll(where: isDue)
            state.working += due.count(where: \.isTest)
            return due
        }
        for sleeper in due {
            if let error { sleeper.continuation.resume(throwing: error) } else { sleeper.continuation.resume() }
        }
    }

    /// Lets time pass until the task is cancelled.
    func run(_ pipeline: VoicePipeline) async {
        while !Task.isCancelled {
            await settle(pipeline)
            let next = state.withLock { state -> Instant? in
                guard state.working == 0, state.sleepers.contains(where: \.isTest) else { return nil }
                state.now = state.now + Self.step
                return state.now
            }
            if let next { wake { $0.deadline <= next } }
            if isRealTime || next == nil { try? await Task.sleep(for: next == nil ? .milliseconds(1) : Self.step) }
        }
    }

    private func hasFinished(_ task: Task<Void, Never>) -> Bool { state.withLock { $0.tasks[task] == true } }

    /// - Returns: whether the end of the task is to be waited for.
    private func watch(_ task: Task<Void, Never>) -> Bool {
        let isNew = state.withLock { state in
            guard state.tasks[task] == nil else { return false }
            state.tasks[task] = false
            return true
        }
        if isNew {
            Task {
                await task.value
                state.withLock { $0.tasks[task] = true }
            }
        }
        return isNew
    }

    /// Waits until the call has done what is due.
    private func settle(_ pipeline: VoicePipeline) async {
        for _ in 1...2 {
            let end = ContinuousClock.now + Self.stallMax
            for task in await pipeline.tasks where watch(task) {
                while !hasFinished(task), ContinuousClock.now < end { try? await Task.sleep(for: .microseconds(200)) }
                state.withLock { $0.tasks[task] = true }
            }
            for _ in 1...4 { await Task.yield() }
            await pipeline.update { $0.output }?.settle()
            for _ in 1...4 { await Task.yield() }
        }
    }
}

extension VoicePipeline {
    /// Recognitions and responses in progress.
    fileprivate var tasks: [Task<Void, Never>] {
        Array(listening.recognitions.values) + [responding.tasks.current?.task, responding.tasks.abandonment].compactMap { $0 }
    }
}

extension SpeechOutput {
    /// Waits until the commands so far were performed.
    fileprivate nonisolated func settle() async {
        let (stream, sink) = AsyncStream.makeStream(of: HeardSpeech.self)
        submit(.abandon(TurnID(-1), sink))
        for await _ in stream {}
    }
}
