public import PatchbayClient
public import Wire

/// Runs an assistant's tools through its gateway, which signs the requests to them (PROTOCOL, "Assistants").
public struct GatewayToolRunner: ToolRunner {
    private let job: AgentJob
    private let tokens: UserTokenSource

    /// - Parameter tokens: returns a currently valid token of the assistant.
    public init(_ job: AgentJob, tokens: @escaping UserTokenSource) {
        self.job = job
        self.tokens = tokens
    }

    public func run(_ call: ToolCall, of tool: AssistantTool) async -> ToolOutcome {
        do {
            let body = Body(arguments: call.arguments, room: job.room, callId: job.call?.text)
            let gateway = try GatewayAdministrator(
                url: job.url, token: try await tokens(), trust: job.options.trust,
                timeout: .milliseconds((tool.timeoutMs ?? 10_000) + 5_000))
            let target = "/v1/assistants/\(job.assistantID)/tools/\(tool.name)"
            let response = try await gateway.post(target, body: try JSON.encode(body, names: .snakeCase))
            if response.status == 200 { return .result(try JSON.decode(Result.self, from: response.body, names: .snakeCase).body) }
            let failure = try JSON.decode(Failure.self, from: response.body, names: .snakeCase)
            return .failed(message: failure.message, retry: failure.retry ?? false)
        } catch {
            return .failed(message: "the gateway did not answer", retry: true)
        }
    }

    private struct Body: Encodable {
        var arguments: String
        var room: String
        var callId: String?
    }

    private struct Result: Decodable {
        var body: String
    }

    private struct Failure: Decodable {
        var message: String
        var retry: Bool?
    }
}
