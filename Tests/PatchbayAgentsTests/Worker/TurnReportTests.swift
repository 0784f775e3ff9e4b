import PatchbayClient
import Testing
import Wire

@testable import PatchbayAgents

/// The way of turn metrics from a job to the gateway's `/metrics`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TurnReportTests {
    /// The value of a line of `/metrics` that begins with this text.
    private static func value(_ sample: String, _ node: WorkerGateway) async throws -> Double? {
        let text = String(decoding: try await node.administrator().get("/metrics").body, as: UTF8.self)
        return text.split(separator: "\n").first { $0.hasPrefix(sample + " ") }.flatMap { Double($0.dropFirst(sample.count + 1)) }
    }

    private static let interrupted = #"patchbay_agent_turns_total{interrupted="true"}"#
    private static let completed = #"patchbay_agent_turns_total{interrupted="false"}"#
    private static let dropped = "patchbay_agent_turns_dropped_total"

    @Test func reportedTurnsAreInTheMetrics() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node) { job in
                job.report(
                    TurnMetrics(turn: 1, endOfTurnMs: 260, recognitionMs: 90, firstTokenMs: 5, firstAudioMs: 40, voiceToVoiceMs: 380))
                job.report(TurnMetrics(turn: 2, endOfTurnMs: 500, interrupted: true))
                try await TestWorker.stay(job)
            }.registered()
            #expect(try await Self.value(Self.completed, node) == 0)
            try await node.administrator().dispatch("helper", to: "room")
            try await eventually("two turns") { try await Self.value(Self.interrupted, node) == 1 }
            let histogram = "patchbay_agent_turn_seconds"
            let expected: [(sample: String, value: Double)] = [
                (Self.completed, 1), (Self.dropped, 0),
                (#"\#(histogram)_bucket{stage="end_of_turn",le="0.2"}"#, 0), (#"\#(histogram)_bucket{stage="end_of_turn",le="0.3"}"#, 1),
                (#"\#(histogram)_bucket{stage="end_of_turn",le="0.6"}"#, 2), (#"\#(histogram)_bucket{stage="end_of_turn",le="+Inf"}"#, 2),
                (#"\#(histogram)_sum{stage="end_of_turn"}"#, 0.76), (#"\#(histogram)_sum{stage="recognition"}"#, 0.09),
                (#"\#(histogram)_sum{stage="first_token"}"#, 0.005), (#"\#(histogram)_sum{stage="first_audio"}"#, 0.04),
                (#"\#(histogram)_sum{stage="voice_to_voice"}"#, 0.38), (#"\#(histogram)_count{stage="voice_to_voice"}"#, 1),
            ]
            for (sample, value) in expected { #expect(try await Self.value(sample, node) == value, "\(sample)") }
            try await worker.stop()
        }
    }

    @Test func aDrainedWorkerReportsItsLastTurns() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node) { job in
                let room = try await job.connect()
                for await event in room.events { if case .disconnected = event { break } }
                for turn in 1...40 { job.report(TurnMetrics(turn: turn)) }
            }.registered()
            let job = try await node.administrator().dispatch("helper", to: "room")
            try await node.job(.running)
            let draining = Task { await worker.worker.drain() }
            try await node.administrator().endJob(job.id, in: "room")
            await draining.value
            try await worker.ended()
            try await eventually("all turns") { try await Self.value(Self.completed, node) == 40 }
        }
    }

    @Test func turnsWaitForAGatewayThatIsAwayAndTheOldestAreDropped() async throws {
        let before = try WorkerGateway()
        try await before.begin()
        let worker = try await TestWorker(before).registered()
        try await before.administrator().dispatch("helper", to: "room")
        try await before.job(.running)
        try await before.stop()
        try await eventually("the loss") { await !worker.worker.isRegistered }
        let job = try #require(worker.jobs.first)
        for turn in 1...300 { job.report(TurnMetrics(turn: turn, interrupted: turn <= 44)) }
        let after = try WorkerGateway(port: before.port)
        try await after.begin()
        try await eventually("the turns") { try await Self.value(Self.completed, after) == 256 }
        #expect(try await Self.value(Self.interrupted, after) == 0)
        #expect(try await Self.value(Self.dropped, after) == 44)
        try await worker.stop()
        try await after.stop()
    }

    @Test func invalidTurnsAreRefusedAndValidOnesAreCountedAfterwards() async throws {
        try await WorkerGateway.run { node in
            let worker = try await HandWorker(node)
            let turns = [TurnMetrics(turn: 1), TurnMetrics(turn: 2, recognitionMs: -1)]
            #expect(await worker.channel.refusal(of: .status(WorkerStatus(load: 0, turns: turns))) == .invalidArgument)
            #expect(try await Self.value(Self.completed, node) == 0)
            try await worker.channel.request(.status(WorkerStatus(load: 0, turns: [turns[0]])))
            #expect(try await Self.value(Self.completed, node) == 1)
        }
    }

    @Test func aVoiceAgentReportsTheTurnsOfItsConversation() async throws {
        let engines = EmbeddedEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), synthesizer: ToneSynthesizer())
        let agent = VoiceAgent(engines: engines, tokens: { try WorkerGateway.assistantToken("helper") })
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node, handler: { try await agent.converse($0) }).registered()
            let ann = try await node.join("ann")
            try await node.administrator().dispatch("helper", to: "room")
            #expect(try await ann.agent() == ["agent.joined"])
            try await ann.sendText("What time is it?", topic: TextMessage.chatTopic)
            try await eventually("the turn") { try await Self.value(Self.completed, node) == 1 }
            #expect(try await Self.value(#"patchbay_agent_turn_seconds_count{stage="first_audio"}"#, node) == 1)
            await ann.leave()
            try await worker.stop()
        }
    }

    @Test func aTurnThatTheGatewayWouldRefuseIsNotReported() {
        let reports = TurnReports()
        reports.append(TurnMetrics(turn: 1, firstAudioMs: -1))
        reports.append(TurnMetrics(turn: 2))
        let (turns, dropped) = reports.take()
        #expect(turns.map(\.turn) == [2] && dropped == 1 && reports.isEmpty)
    }
}
