internal import Synchronization
public import Wire

/// A language model behind OpenAI's chat completions, `POST {base_url}/chat/completions`, streamed.
///
/// A failed request is repeated as long as nothing of its answer was delivered and `timeout_ms` has not passed. An answer that is too long,
/// malformed, empty or truncated ends with a `ProviderError`; the parts before it stay valid.
///
/// Some local models refuse requests with tools. They are asked again without the built-in tool, and cannot end calls.
public final class OpenAIResponder: Responder {
    private let server: ProviderServer
    private let refusesTools = Atomic(false)
    /// As the settings say (`ask_early`).
    public let isWorthPreparing: Bool

    /// - Parameter secrets: those that the settings may use.
    /// - Throws: `ProviderError` of code `unavailable`, whose message names the setting to correct.
    public init(_ settings: ProviderSettings, secrets: ProviderSecrets = ProviderSecrets()) throws(ProviderError) {
        server = try ProviderServer(settings, secrets: secrets)
        isWorthPreparing = settings.askEarly ?? true
    }

    public func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
        let answer = ChatAnswer(idPrefix: "call-" + Hex.encode(randomBytes(8)))
        return ProviderServer.stream { [self] sink in
            // Without the assistant's own tools it could not do its work.
            let needsTools = !conversation.tools.isEmpty
            if needsTools || !refusesTools.load(ordering: .relaxed) {
                do {
                    return try await server.send(request(conversation, offersTools: true), reading: answer, into: sink)
                } catch let failure as ProviderFailure where failure.refusesParameters && !needsTools {
                    // The same request without tools tells whether they were the reason.
                }
            }
            try await server.send(request(conversation, offersTools: false), reading: answer, into: sink)
            refusesTools.store(true, ordering: .relaxed)
        }
    }

    private func request(_ conversation: Conversation, offersTools: Bool) -> ProviderRequest {
        ProviderRequest(
            path: "/chat/completions", contentType: "application/json", accept: "text/event-stream",
            body: ChatRequest(model: server.model, conversation: conversation, offersTools: offersTools).bytes)
    }
}

/// The body of `POST /chat/completions`.
package struct ChatRequest: Sendable {
    /// Built in: the model calls it to end the call.
    package static let endCallTool = "end_call"

    package let body: JSONValue

    /// - Parameter offersTools: whether the model may call the conversation's tools and end the call.
    package init(model: String, conversation: Conversation, offersTools: Bool = true) {
        var members: [JSONValue.Member] = [
            .init("model", .string(model)), .init("stream", true), .init("messages", .array(Self.messages(of: conversation))),
        ]
        if offersTools { members.append(.init("tools", .array(Self.tools(of: conversation)))) }
        body = .object(members)
    }

    package var bytes: [UInt8] {
        // Encoding fails only for numbers that are not finite, and parsed JSON has none.
        (try? JSON.encode(body, names: .asDeclared)) ?? []
    }

    // MARK: Messages

    private static func messages(of conversation: Conversation) -> [JSONValue] {
        let results = toolResults(of: conversation.messages)
        var messages: [JSONValue] = [["role": "system", "content": .string(systemPrompt(of: conversation))]]
        for message in conversation.messages {
            switch message {
            case .user(let text): messages.append(["role": "user", "content": .string(text)])
            case .digits(let digits):
                messages.append(["role": "user", "content": .string(Self.text(ofDigits: digits))])
            case .assistant(let text, let calls):
                if calls.isEmpty {
                    // Interrupted before anything was heard.
                    if !text.isEmpty { messages.append(["role": "assistant", "content": .string(text)]) }
                } else {
                    messages.append([
                        "role": "assistant", "content": text.isEmpty ? .null : .string(text), "tool_calls": .array(calls.map(entry)),
                    ])
                    // Servers reject calls without results, and results elsewhere.
                    for call in calls {
                        let result = results[call.id] ?? "The tool was not run."
                        messages.append(["role": "tool", "tool_call_id": .string(call.id), "content": .string(result)])
                    }
                }
            case .toolResult: break
            }
        }
        return messages
    }

    /// The text that represents digits in a prompt. Realtime sessions use it, too.
    static func text(ofDigits digits: String) -> String { "(The user pressed \(digits) on the keypad.)" }

    /// The instructions, and what is known about the user. Shared with `RealtimeRequest`.
    package static func systemPrompt(of conversation: Conversation) -> String {
        systemPrompt(
            conversation.instructions, language: conversation.language, userName: conversation.userName, briefing: conversation.briefing)
    }

    package static func systemPrompt(_ instructions: String, language: String, userName: String, briefing: String = "") -> String {
        var prompt = instructions
        if !userName.isEmpty { prompt += "\n\nThe user's name is \(userName)." }
        if !language.isEmpty { prompt += "\n\nSpeak the language \"\(language)\" unless the user speaks another one." }
        if !briefing.isEmpty { prompt += "\n\n" + briefing }
        return prompt
    }

    private static func toolResults(of messages: [ConversationMessage]) -> [String: String] {
        var results: [String: String] = [:]
        for case .toolResult(let id, let text) in messages { results[id] = text }
        return results
    }

    private static func entry(for call: ToolCall) -> JSONValue {
        [
            "id": .string(call.id), "type": "function",
            "function": ["name": .string(call.name), "arguments": .string(call.arguments)],
        ]
    }

    // MARK: Tools

    private static func tools(of conversation: Conversation) -> [JSONValue] {
        definitions(of: conversation.tools).map { ["type": "function", "function": $0] }
    }

    /// The functions that the model may call, each with name, description and parameters. Shared with `RealtimeRequest`.
    package static func definitions(of tools: [AssistantTool]) -> [JSONValue] {
        let endCall: JSONValue = [
            "name": .string(endCallTool), "description": "Ends the call after what was said before it. Say goodbye first.",
            "parameters": noParameters,
        ]
        return tools.filter { $0.name != endCallTool }.map(definition) + [endCall]
    }

    private static func definition(of tool: AssistantTool) -> JSONValue {
        var parameters = noParameters
        if let schema = try? JSONValue(parsing: Array(tool.parameters.utf8), depthMax: 32), schema["type"] != nil { parameters = schema }
        return ["name": .string(tool.name), "description": .string(tool.description), "parameters": parameters]
    }

    private static let noParameters: JSONValue = ["type": "object", "properties": [:]]
}
