import Audio
import Foundation
import Identity
import PatchbayAgents
import PatchbayClient
import Wire

/// An assistant under evaluation, and how a caller reaches it.
struct EvaluationTarget: Sendable {
    /// How long an assistant may take to join.
    static let patience = Duration.seconds(20)

    /// Joins a room with the assistant as a caller.
    let join: @Sendable () async throws -> RoomConnection

    /// An assistant of a gateway in this process, with embedded engines.
    static func embedded(_ definition: AssistantDefinition, in gateway: DemoGateway) -> Self {
        Self {
            try await gateway.join(
                "caller", name: "Alice", room: "evaluate-\(UUID().uuidString.prefix(8).lowercased())", assistant: definition.id)
        }
    }

    /// An assistant of a running gateway: dispatched to a new room for each call, or waiting in one room.
    static func running(at url: String, trust: TLSTrust, key: IssuerKey, assistant: String, room: String?) -> Self {
        Self {
            let settings = room == nil ? TokenRoomSettings(agents: [TokenAgent(agentName: assistant)]) : nil
            let unique = UUID().uuidString.prefix(8).lowercased()
            let token = try key.token(
                "caller-\(unique)", seconds: 600, name: "Alice", video: .joining(room ?? "evaluate-\(unique)"), roomSettings: settings)
            return try await RoomConnection.connect(url: url, token: token, options: RoomOptions(trust: trust, reconnect: .never))
        }
    }
}

/// A call of a scenario, as it was judged.
struct EvaluatedCall: Sendable {
    let result: CallResult
    let record: CallRecord
    let recording: StereoRecording
}

/// Plays the caller of a scenario to an assistant, in real time.
struct EvaluationCall: Sendable {
    /// Silence that ends an answer, if the assistant reports its state and if it does not.
    private static let pauseOfListener = Duration.milliseconds(400)
    private static let pause = Duration.milliseconds(1_000)
    /// How long the caller waits for an answer, where one is expected and where none is.
    private static let answerMax = Duration.seconds(10)
    private static let silenceMax = Duration.milliseconds(2_500)
    /// How long the assistant may take to begin a greeting, unless it listens before.
    private static let greetingMax = Duration.seconds(2)
    /// The longest answer.
    private static let lengthMax = Duration.seconds(60)

    let scenario: Scenario
    let sounds: [Int: CallerSound]
    let user: RecordedUser
    private let notes = CallNotes()

    init(_ scenario: Scenario, sounds: [Int: CallerSound], in room: RoomConnection) async throws {
        self.scenario = scenario
        self.sounds = sounds
        user = try await RecordedUser(room: room, hearsAnyTrack: true)
    }

    /// - Parameter run: its number among the calls of the scenario.
    /// - Throws: `CommandFailure` if no assistant joins.
    func run(_ run: Int) async throws -> EvaluatedCall {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await user.run() }
            group.addTask {
                for await event in user.room.events {
                    user.handle(event)
                    notes.take(event, of: user)
                }
            }
            var record = CallRecord()
            do {
                try await waitForGreeting()
                record.lines = try await speak()
            } catch {
                await user.leave()
                throw error
            }
            await user.leave()
            try await group.waitForAll()
            let recording = user.recording
            record.assistant = Span.audible(in: recording.assistant, above: 50, closing: 120)
            record.lengthMs = max(recording.user.count, recording.assistant.count) / 48
            notes.complete(&record)
            return EvaluatedCall(result: CallResult(of: scenario, run: run, record), record: record, recording: recording)
        }
    }

    private func speak() async throws -> [CallRecord.SpokenLine] {
        var lines: [CallRecord.SpokenLine] = []
        var isWaitingForAnswer = false
        for (index, step) in scenario.steps.enumerated() where !notes.hasEnded {
            switch step {
            case .waitUntilFinished:
                try await waitForEnd(of: lines.last?.line)
                isWaitingForAnswer = false
            case .wait(let milliseconds):
                try await poll(within: Self.lengthMax) { !user.isSpeaking }
                try await Task.sleep(for: .milliseconds(milliseconds))
                isWaitingForAnswer = false
            case .speak(let line):
                guard let sound = sounds[index + 1] else { continue }
                var canSpeak = true
                if let span = line.interruptAfterMs {
                    canSpeak = try await waitForSpeech(of: .milliseconds(span))
                } else if isWaitingForAnswer {
                    try await waitForEnd(of: lines.last?.line)
                }
                let start = canSpeak ? user.say(PCMBuffer(samples: sound.samples)) / 48 : 0
                let voiced = canSpeak ? sound.voiced.map { Span(start: $0.start + start, end: $0.end + start) } : []
                lines.append(CallRecord.SpokenLine(number: index + 1, line: line, voiced: voiced))
                isWaitingForAnswer = true
            }
        }
        try await waitForEnd(of: lines.last?.line)
        return lines
    }

    // MARK: Waiting

    private func waitForGreeting() async throws {
        guard try await poll(within: EvaluationTarget.patience, until: { user.hasVoice }) else {
            throw CommandFailure(
                "no assistant offered its voice in the room \(user.room.hello.room.name) within 20 s; check --assistant, and that a process serves it "
                    + "(`patchbay agent start`)")
        }
        let joined = MediaClock.now
        try await poll(within: Self.lengthMax) {
            let hasTime = MediaClock.now - joined < (isListening ? Self.pause : Self.greetingMax)
            return user.answerBegan == nil ? !hasTime : isSilent(for: isListening ? Self.pauseOfListener : Self.pause)
        }
    }

    /// Waits until the assistant has answered, or will not.
    private func waitForEnd(of line: CallerLine?) async throws {
        guard let line else { return }
        try await poll(within: Self.lengthMax) { !user.isSpeaking }
        let expectsAnswer = line.expectation.expectsAnswer(interrupting: line.interruptAfterMs != nil)
        let limit = expectsAnswer ? Self.answerMax : Self.silenceMax
        try await poll(within: Self.lengthMax) {
            user.answerBegan == nil ? isSilent(for: limit) : isSilent(for: isListening ? Self.pauseOfListener : Self.pause)
        }
    }

    /// - Returns: whether the assistant has been audible for so long since the caller spoke.
    private func waitForSpeech(of span: Duration) async throws -> Bool {
        var hasSpoken = false
        try await poll(within: Self.lengthMax) {
            guard let began = user.answerBegan, let last = user.lastHeard else { return isSilent(for: Self.answerMax) }
            hasSpoken = last - began >= span
            return hasSpoken || isSilent(for: Self.pause)
        }
        return hasSpoken
    }

    private var isListening: Bool { notes.agentState == .listening || notes.agentState == .idle }

    /// Whether neither side has been audible for so long.
    private func isSilent(for span: Duration) -> Bool {
        guard !user.isSpeaking else { return false }
        let last = [user.lastHeard, user.speechEnded].compactMap(\.self).max() ?? user.joinedAt
        return MediaClock.now - last >= span
    }

    /// - Returns: false if the time has passed, or the call has ended.
    @discardableResult
    private func poll(within limit: Duration, until isTrue: () -> Bool) async throws -> Bool {
        let end = MediaClock.now + limit
        while !isTrue() {
            guard MediaClock.now < end, !notes.hasEnded else { return false }
            try await Task.sleep(for: .milliseconds(10))
        }
        return true
    }
}
