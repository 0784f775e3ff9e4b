import Foundation
import PatchbayAgents
import Testing
import Wire

/// The realtime cases that `Tests/Interop/providers/contract.py` runs with the official client, against the same emulator.
@Suite(.timeLimit(.minutes(5)))
struct RealtimeContractTests {
    @Test(arguments: ContractCase.all("realtime")) func realtime(_ contract: ContractCase) async throws {
        var conversation = Turn()
        var code: String?
        do {
            let session = try await open(contract)
            defer { session.close() }
            start(contract, session)
            try await conversation.run(session, cancels: contract.cancelled == true)
        } catch let error as ProviderError {
            code = error.code.rawValue
        }
        #expect(code == contract.swift)
        guard contract.swift == nil else { return }
        if contract.cancelled == true {
            #expect(conversation.outcome == .cancelled)
            return
        }
        #expect(conversation.outcome == .completed)
        #expect(conversation.heard == contract.heard ?? "")
        #expect(conversation.text.trimmingCharacters(in: .whitespaces) == contract.text)
        #expect(conversation.calls == contract.tools ?? [])
        #expect(conversation.samples == contract.samples)
    }

    @Test func anItemIsTruncatedWhereTheUserInterruptedAndTheSessionGoesOn() async throws {
        let slow = try #require(ContractCase.all("realtime").first { $0.cancelled == true })
        let session = try await open(slow)
        defer { session.close() }
        start(slow, session)
        var interrupted = Turn()
        try await interrupted.run(session, cancels: true)
        session.send(.truncate(item: interrupted.item, played: .milliseconds(40)))
        // Too late: there is no response any more.
        session.send(.cancelResponse)
        session.send(.appendAudio([Int16](repeating: 0, count: 48_000)))
        session.send(.clearAudio)
        session.send(.appendAudio([Int16](repeating: 0, count: 4_800)))
        session.send(.commitAudio)
        session.send(.createResponse)
        var next = Turn()
        try await next.run(session)
        #expect(next.outcome == .completed && next.heard == "200 ms", "the cleared second must not be heard")
    }

    @Test func closingEndsTheEventsInOrder() async throws {
        let session = try await open(try #require(ContractCase.all("realtime").first))
        session.send(.appendUserText("hello"))
        session.close()
        session.send(.createResponse)
        let (_, code) = await outcome(of: session.events)
        #expect(code == nil)
    }

    @Test func cancellingTheOpeningEndsIt() async throws {
        let hanging = try #require(ContractCase.all("realtime").first { $0.model == "fault-hang" })
        var (settings, secrets) = try await hanging.settings()
        settings.timeoutMs = 60_000
        let realtime = try OpenAIRealtime(settings, secrets: secrets)
        let opening = Task { try await realtime.open(RealtimeConfiguration(voice: "alloy")) }
        try await Task.sleep(for: .milliseconds(100))
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
    }

    private func open(_ contract: ContractCase) async throws -> any RealtimeSession {
        let (settings, secrets) = try await contract.settings()
        let parameters = #"{"type":"object","properties":{"city":{"type":"string"}}}"#
        let weather = AssistantTool(name: "get_weather", description: "The weather.", parameters: parameters, url: "https://tools.test")
        return try await OpenAIRealtime(settings, secrets: secrets)
            .open(RealtimeConfiguration(instructions: "Be brief.", voice: contract.voice ?? "alloy", tools: [weather]))
    }

    private func start(_ contract: ContractCase, _ session: any RealtimeSession) {
        if let text = contract.say {
            session.send(.appendUserText(text))
        } else {
            session.send(.appendAudio([Int16](repeating: 0, count: Int(24_000 * (contract.seconds ?? 0.2)))))
            session.send(.commitAudio)
        }
        session.send(.createResponse)
    }
}

/// What a session reports until a response without tool calls is done.
private struct Turn {
    var heard = ""
    var text = ""
    var calls: [String] = []
    var samples = 0
    var item = ""
    var outcome: RealtimeOutcome?

    /// - Throws: `ProviderError` of the session, of a refused request or of the response.
    mutating func run(_ session: any RealtimeSession, cancels: Bool = false) async throws {
        for try await event in session.events {
            switch event {
            case .userTranscript(_, let text): heard = text
            case .transcriptDelta(_, let delta): text += delta
            case .audio(let item, let more):
                self.item = item
                samples += more.count
                if cancels { session.send(.cancelResponse) }
            case .toolCall(let call):
                calls.append(try entry(call))
                session.send(.appendToolResult("21 degrees", call: call.id))
            case .error(let error): throw error
            case .responseDone(_, .failed(let error)): throw error
            case .responseDone(_, let outcome):
                if calls.isEmpty || samples > 0 {
                    self.outcome = outcome
                    return
                }
                session.send(.createResponse)
            case .inputCommitted, .userTranscriptDelta, .responseStarted, .endCall: break
            }
        }
    }
}
