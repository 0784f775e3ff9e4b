package import Identity
package import OutgoingHTTP
internal import Synchronization
internal import Wire

/// Calls assistants' tools: signed POST requests to the URLs in their definitions.
///
/// Neither arguments nor results are logged or stored. Redirects are not followed.
package final class ToolCaller: Sendable {
    /// Concurrent calls of one assistant. Further ones are refused.
    package static let callsMax = 64
    /// In bytes.
    package static let argumentsBytesMax = 64 << 10
    package static let resultBytesMax = 64 << 10

    private let assistants: AssistantDirectory
    private let counters: ServiceCounters
    private let signer: @Sendable () -> IssuerKey?
    private let sending: @Sendable (_ timeout: Duration, _ responseBytesMax: Int) -> Outgoing
    private let running = Mutex<[String: Int]>([:])

    /// - Parameters:
    ///   - signer: the current HS256 key; nil if there is none.
    ///   - sending: sends one request, for example by `OutgoingClient`.
    package init(
        _ assistants: AssistantDirectory, counters: ServiceCounters, signer: @escaping @Sendable () -> IssuerKey?,
        sending: @escaping @Sendable (_ timeout: Duration, _ responseBytesMax: Int) -> Outgoing
    ) {
        self.assistants = assistants
        self.counters = counters
        self.signer = signer
        self.sending = sending
    }

    /// Calls a tool and waits for its result.
    func call(_ name: String, of assistant: String, _ call: ToolCallBody, arguments: [UInt8]) async throws(ToolFailure) -> ToolResult {
        guard let definition = assistants.definition(assistant) else { throw .noAssistant }
        guard let tool = definition.tools.first(where: { $0.name == name }) else { throw .noTool }
        guard let key = signer() else { throw .noKey }
        guard begin(of: assistant) else {
            counters.add(to: .toolCalls, "refused")
            throw .tooManyCalls
        }
        counters.add(1, to: .toolCallsRunning)
        defer {
            end(of: assistant)
            counters.add(-1, to: .toolCallsRunning)
        }
        do throws(ToolFailure) {
            let result = try await send(call.request(to: tool, of: assistant, arguments: arguments), to: tool, signedWith: key)
            counters.add(to: .toolCalls, "done")
            return result
        } catch {
            counters.add(to: .toolCalls, error.isTimeout ? "timeout" : "failed")
            throw error
        }
    }

    private func send(_ body: [UInt8], to tool: AssistantTool, signedWith key: IssuerKey) async throws(ToolFailure) -> ToolResult {
        let response: OutgoingResponse
        do {
            var headers = [
                OutgoingHeader("content-type", "application/json"), OutgoingHeader("user-agent", "Patchbay"),
                OutgoingHeader("authorization", try BodySignature.token(for: body, at: WallClock.seconds, with: key)),
            ]
            if let trace = RequestContext.current?.trace { headers.append(OutgoingHeader("traceparent", trace.withNewSpan.traceparent)) }
            let timeout = Duration.milliseconds(tool.timeoutMs ?? AssistantLimits.toolTimeoutMillisecondsDefault)
            response = try await sending(timeout, Self.resultBytesMax)(OutgoingHTTPRequest(url: tool.url, headers: headers, body: body))
        } catch {
            throw ToolFailure(error as? OutgoingError)
        }
        guard 200...299 ~= response.status else { throw ToolFailure(status: response.status) }
        guard response.body.count <= Self.resultBytesMax else { throw ToolFailure(.responseTooLong(bytesMax: Self.resultBytesMax)) }
        guard let text = String(validating: response.body, as: UTF8.self) else { throw .notText }
        return ToolResult(status: response.status, body: text)
    }

    private func begin(of assistant: String) -> Bool {
        running.withLock { running in
            let count = running[assistant] ?? 0
            guard count < Self.callsMax else { return false }
            running[assistant] = count + 1
            return true
        }
    }

    private func end(of assistant: String) {
        running.withLock { running in
            let count = (running[assistant] ?? 1) - 1
            running[assistant] = count == 0 ? nil : count
        }
    }
}
