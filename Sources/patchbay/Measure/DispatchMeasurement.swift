import Audio
import Backend
import PatchbayAgents
import PatchbayClient
import Wire

/// Calls to assistants that the gateway dispatches, as users of a gateway with a data folder have them.
extension AgentMeasurement {
    /// The built-in assistant in each voice.
    static let openers = AssistantDefinition.voices.map { voice in
        AssistantDefinition(
            id: "opener-\(voice)", name: AssistantDefinition.builtIn.name, greetings: AssistantDefinition.builtIn.greetings, voice: voice)
    }

    private static let names = [
        "Ann", "Bob Miller", "Chloé", "Dang", "O'Neil", "Emma", "Frank", "Greta", "Hans", "Ines", "Jack", "Kim", "Lena", "Max", "Nora",
        "Otto",
        "Paul", "Quinn", "Rosa", "Sam", "Tom", "Uma", "Vera", "Will", "Xenia", "Yann", "Zoe", "Maria Lopez", "Jean-Luc", "Ada Lovelace",
    ]
    /// How long a greeting may take.
    private static let patience = Duration.seconds(30)

    // MARK: Openings

    /// Calls with fresh agents, one after another: what they have prepared differs with the clips that the gateway has by then.
    func openings(tries: Int) async throws -> AgentReport {
        var report = AgentReport()
        for index in 0..<tries {
            let name = Self.names[index % Self.names.count]
            let said = try await opening(of: Self.openers[index % Self.openers.count], to: name, room: "opening-\(index)")
            let greetings = AssistantDefinition.builtIn.greetings.map { $0.replacing("{name}", with: name) }
            if said.count == 1, greetings.contains(said[0]) { report.greeted += 1 }
            if said.contains(AssistantPhrases().apology) { report.apologies += 1 }
            progress("opening \(index + 1): \(said.joined(separator: " | "))")
        }
        return report
    }

    /// The assistant's segments until its greeting has ended.
    private func opening(of assistant: AssistantDefinition, to name: String, room: String) async throws -> [String] {
        try await withWorker(of: assistant.id, engines.withoutCachedSpeech) {
            let user = try await gateway.join("user", name: name, room: room, assistant: assistant.id)
            let deadline = Task {
                try await Task.sleep(for: Self.patience)
                await user.leave()
            }
            var said: [String] = []
            for await event in user.events {
                guard case .gateway(.segment(let segment), _) = event, segment.role == .assistant, segment.final else { continue }
                if segment.spoken == .completed || segment.spoken == .interrupted { said.append(segment.text) }
                if segment.spoken == .completed { break }
            }
            deadline.cancel()
            await user.leave()
            return said
        }
    }

    // MARK: Turnover

    private static let callSpan = Duration.seconds(8)
    private static let callsAtOnce = 4

    /// Calls that follow one another, four at a time, with one worker of the default capacity: when each user gets an assistant, and whether
    /// it understands what the user says after two seconds.
    func turnover(with recordings: [SpokenRecording], calls: Int) async throws -> AgentReport {
        let questions = recordings.filter { $0.sound.duration <= .seconds(3) }
        guard !questions.isEmpty else { throw UsageError("--recordings: none of the recordings is 3 s long or shorter") }
        let outcomes = try await withWorker(of: AssistantDefinition.builtIn.id, engines) {
            try await withThrowingTaskGroup(of: [ShortCall].self) { group in
                for line in 0..<Self.callsAtOnce {
                    group.addTask {
                        var outcomes: [ShortCall] = []
                        for index in stride(from: line, to: calls, by: Self.callsAtOnce) {
                            outcomes.append(try await shortCall(index, questions[index % questions.count]))
                        }
                        return outcomes
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }
        var report = AgentReport()
        report.assistantMs = outcomes.compactMap(\.assistantMs)
        report.understood = outcomes.count(where: \.isUnderstood)
        return report
    }

    private struct ShortCall: Sendable {
        /// From the user's join to the assistant's; nil if none came.
        var assistantMs: Int?
        var isUnderstood = false
    }

    private func shortCall(_ index: Int, _ question: SpokenRecording) async throws -> ShortCall {
        let user = try await RecordedUser(
            room: gateway.join("user", room: "turnover-\(index)", assistant: AssistantDefinition.builtIn.id))
        async let speaking: Void = user.run()
        async let watching = Self.watch(user)
        try await Task.sleep(for: .seconds(2))
        user.say(question.sound)
        try await MediaClock.sleep(until: user.joinedAt + Self.callSpan)
        await user.leave()
        try await speaking
        let outcome = await watching
        let delay = outcome.assistantMs.map { "assistant after \($0) ms" } ?? "no assistant"
        progress("call \(index + 1): \(delay), \(outcome.isUnderstood ? "understood" : "not understood")")
        return outcome
    }

    private static func watch(_ user: RecordedUser) async -> ShortCall {
        var call = ShortCall()
        for await event in user.room.events {
            user.handle(event)
            switch event {
            case .gateway(.agentJoined, _): call.assistantMs = call.assistantMs ?? Int((MediaClock.now - user.joinedAt).inMilliseconds)
            case .gateway(.segment(let segment), _) where segment.role == .user && segment.final && !segment.text.isEmpty:
                call.isUnderstood = true
            default: break
            }
        }
        return call
    }

    /// Runs a worker while `body` runs.
    private func withWorker<Result: Sendable>(
        of assistant: String, _ engines: EmbeddedEngines, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let worker = gateway.worker(of: assistant, speakingWith: engines)
        async let working: Void = worker.run()
        if await !worker.registered() { try await working }
        let result = try await body()
        await worker.drain()
        try await working
        return result
    }
}
