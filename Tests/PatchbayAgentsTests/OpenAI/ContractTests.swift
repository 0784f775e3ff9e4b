import Foundation
import PatchbayAgents
import Synchronization
import Testing
import Wire

/// The cases that `Tests/Interop/providers/contract.py` runs with the official client, against the same emulator.
@Suite(.timeLimit(.minutes(5)))
struct ContractTests {
    @Test(arguments: ContractCase.all("chat")) func chatCompletions(_ contract: ContractCase) async throws {
        let (settings, secrets) = try await contract.settings()
        let (parts, code) = await outcome(
            of: try OpenAIResponder(settings, secrets: secrets).respond(to: conversation(of: contract)))
        #expect(code == contract.swift)
        guard contract.swift == nil else { return }
        var (text, calls, endsCall) = ("", [String](), false)
        for part in parts {
            switch part {
            case .text(let piece): text += piece
            case .toolCall(let call): calls.append(try entry(call))
            case .endCall: endsCall = true
            case .schedule, .cancelSchedule: Issue.record("no model schedules anything")
            }
        }
        #expect(text.trimmingCharacters(in: .whitespaces) == contract.text ?? "")
        #expect(calls == contract.tools ?? [])
        #expect(endsCall == contract.endsCall ?? false)
    }

    @Test(arguments: ContractCase.all("transcription")) func transcriptions(_ contract: ContractCase) async throws {
        let (settings, secrets) = try await contract.settings()
        let recognizer = try OpenAIRecognizer(settings, secrets: secrets)
        let segment = SpeechSegment(
            samples: Array(repeating: 0.25, count: Int(16_000 * (contract.seconds ?? 0))), start: Instant(nanoseconds: 0), language: "en")
        let (results, code) = await outcome(of: recognizer.recognize(segment))
        #expect(code == contract.swift)
        guard contract.swift == nil else { return }
        let result = try #require(results.last)
        #expect(results.count == 1 && result.isFinal && result.text == contract.text)
    }

    @Test(arguments: ContractCase.all("speech")) func speech(_ contract: ContractCase) async throws {
        let (settings, secrets) = try await contract.settings()
        let synthesizer = try OpenAISynthesizer(settings, secrets: secrets)
        let (pieces, code) = await outcome(of: synthesizer.synthesize(contract.say ?? "", voice: "alloy"))
        #expect(code == contract.swift)
        guard contract.swift == nil else { return }
        #expect(pieces.allSatisfy { $0.sampleRate == contract.rate })
        #expect(pieces.reduce(0) { $0 + $1.samples.count } == contract.samples)
        // A tone of 440 Hz at a quarter of full scale.
        let rising = zip(pieces.flatMap(\.samples), pieces.flatMap(\.samples).dropFirst()).count { $0 < 0 && $1 >= 0 }
        let seconds = Double(contract.samples ?? 0) / Double(contract.rate ?? 1)
        #expect(abs(Double(rising) - 440 * seconds) <= 2)
    }

    @Test func whatPrecedesAFaultIsDelivered() async throws {
        for case let contract in ContractCase.all("chat") where ["fault-truncated", "fault-hang-later"].contains(contract.model) {
            var (settings, secrets) = try await contract.settings()
            // Enough for the first part on a busy machine.
            settings.timeoutMs = 8_000
            let (parts, code) = await outcome(
                of: try OpenAIResponder(settings, secrets: secrets).respond(to: Conversation(messages: [.user("x")])))
            #expect(parts == [.text("Half of ")] && code == contract.swift)
        }
    }

    @Test func aModelWithoutToolsIsAskedWithoutTheBuiltInOne() async throws {
        var (settings, secrets) = try await ContractCase.all("chat")[0].settings()
        settings.model = "no-tools"
        let responder = try OpenAIResponder(settings, secrets: secrets)
        for text in ["one", "two"] {
            let (parts, code) = await outcome(of: responder.respond(to: Conversation(messages: [.user(text)])))
            #expect(code == nil && parts.last == .text("\(text) "))
        }
        // Its own tools are not left out silently.
        let tool = AssistantTool(name: "look", url: "https://tools.test")
        let (_, code) = await outcome(of: responder.respond(to: Conversation(messages: [.user("x")], tools: [tool])))
        #expect(code == "rejected")
    }

    @Test func partialSegmentsAreSkippedUnlessTheSettingsAskForThem() async throws {
        var (settings, secrets) = try await ContractCase.all("transcription")[0].settings()
        var segment = SpeechSegment(samples: Array(repeating: 0, count: 16_000), start: Instant(nanoseconds: 0))
        segment.isPartial = true
        let skipped = await outcome(of: try OpenAIRecognizer(settings, secrets: secrets).recognize(segment))
        #expect(skipped.elements.isEmpty && skipped.code == nil)
        settings.partialResults = true
        let given = await outcome(of: try OpenAIRecognizer(settings, secrets: secrets).recognize(segment))
        #expect(given.elements.count == 1)
    }

    @Test func aServerThatIsNotThereIsADisconnection() async throws {
        let settings = ProviderSettings(baseUrl: "http://127.0.0.1:9/v1", model: "m", retries: 1)
        let (_, code) = await outcome(of: try OpenAIResponder(settings, secrets: [:]).respond(to: Conversation()))
        #expect(code == "disconnected")
    }

    @Test func cancellingTheReaderClosesTheConnection() async throws {
        let server = try SilentServer()
        let settings = ProviderSettings(baseUrl: "http://127.0.0.1:\(server.port)/v1", model: "m", timeoutMs: 60_000)
        let stream = try OpenAIResponder(settings, secrets: [:]).respond(to: Conversation(messages: [.user("x")]))
        let reader = Task { try await stream.reduce(0) { count, _ in count + 1 } }
        await server.receivesARequest()
        reader.cancel()
        #expect(try await reader.value == 0)
        #expect(await server.seesTheEnd())
    }

    private func conversation(of contract: ContractCase) -> Conversation {
        let parameters = #"{"type":"object","properties":{"city":{"type":"string"}}}"#
        var messages: [ConversationMessage] = [.user(contract.say ?? "hello")]
        if contract.results == true {
            let call = ToolCall(id: "call_w1", name: "get_weather", arguments: #"{"city":"Rom"}"#)
            messages += [.assistant("", toolCalls: [call]), .toolResult(id: "call_w1", "21 degrees")]
        }
        return Conversation(
            instructions: "Be brief.", messages: messages,
            tools: [AssistantTool(name: "get_weather", description: "The weather.", parameters: parameters, url: "https://tools.test")])
    }
}

/// The elements of a stream, and the code of the error with which it ends.
func outcome<Element>(of stream: AsyncThrowingStream<Element, any Error>) async -> (elements: [Element], code: String?) {
    var elements: [Element] = []
    do {
        for try await element in stream { elements.append(element) }
        return (elements, nil)
    } catch let error as ProviderError {
        return (elements, error.code.rawValue)
    } catch {
        return (elements, "\(error)")
    }
}

/// A call as the cases describe it: the name and the arguments' values.
func entry(_ call: ToolCall) throws -> String {
    guard case .object(let members) = try JSONValue(parsing: Array(call.arguments.utf8)) else { return call.name }
    return members.reduce(call.name) { text, member in
        switch member.value {
        case .string(let value): "\(text) \(value)"
        case .integer(let value): "\(text) \(value)"
        default: text
        }
    }
}
