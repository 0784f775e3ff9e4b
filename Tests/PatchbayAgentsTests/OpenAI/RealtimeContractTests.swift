import Foundation
import PatchbayAgents
import Testing
import Wire

/// The realtime cases that `Tests/Interop/openai_contract.py` runs with the official client, against the same emulator.
@Suite(.timeLimit(.minutes(2)))
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
        session.truncate(item: interrupted.item, played: .milliseconds(40))
        // Too late: there is no response any more.
        session.cancelResponse()
        session.append([Int16](repeating: 0, count: 48_000))
        session.clear()
        session.append([Int16](repeating: 0, count: 4_800))
        session.commit()
        session.respond()
        var next = Turn()
        try await next.run(session)
        #expect(next.outcome == .completed && next.heard == "200 ms", "the cleared second must not be heard")
    }

    @Test func closingEndsTheEventsInOrder() async throws {
        let session = try await open(try #require(ContractCase.all("realtime").first))
        session.append(userText: "hello")
        session.close()
        session.respond()
        let (_, code) = await outcome(of: session.events)
        #expect(code == nil)
    }

    @Test func cancellingTheOpeningEndsIt() async throws {
        let hanging = try #require(ContractCase.all("realtime").first { $0.model == "fault-hang" })
        var (settings, environment) = try await hanging.settings()
        settings.timeoutMs = 60_000
        let realtime = try OpenAIRealtime(settings, environment: environment)
        let opening = Task { try await realtime.open(RealtimeConfiguration(voice: "alloy")) }
        try await Task.sleep(for: .milliseconds(100))
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
    }

    private func open(_ contract: ContractCase) async throws -> any RealtimeSession {
        let (settings, environment) = try await contract.settings()
        let parameters = #"{"type":"object","properties":{"city":{"type":"string"}}}"#
        let weather = AssistantTool(name: "get_weather", description: "The weather.", parameters: parameters, url: "https://tools.test")
        return try await OpenAIRealtime(settings, environment: environment)
            .open(RealtimeConfiguration(instructions: "Be brief.", voice: contract.voice ?? "alloy", tools: [weather]))
    }

    private func start(_ contract: ContractCase, _ session: any RealtimeSession) {
        if let text = contract.say {
            session.append(userText: text)
        } else {
            session.append([Int16](repeating: 0, count: Int(24_000 * (contract.seconds ?? 0.2))))
            session.commit()
        }
        session.respond()
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
                if cancels { session.cancelResponse() }
            case .toolCall(let call):
                calls.append(try entry(call))
                session.append(toolResult: "21 degrees", of: call.id)
            case .error(let error): throw error
            case .responseDone(_, .failed(let error)): throw error
            case .responseDone(_, let outcome):
                if calls.isEmpty || samples > 0 {
                    self.outcome = outcome
                    return
                }
                session.respond()
            case .inputCommitted, .userTranscriptDelta, .responseStarted, .endCall: break
            }
        }
    }
}
