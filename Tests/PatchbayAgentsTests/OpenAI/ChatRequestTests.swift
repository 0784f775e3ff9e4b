import PatchbayAgents
import Testing
import Wire

struct ChatRequestTests {
    @Test func aConversationBecomesMessages() {
        let call = ToolCall(id: "w", name: "weather", arguments: "{}")
        let conversation = Conversation(
            instructions: "Be brief.",
            messages: [
                .user("Hello"), .assistant("Hi."), .digits("5"), .assistant("", toolCalls: [call]), .toolResult(id: "w", "sunny"),
                .user("Thanks"),
            ], language: "", userName: "Ann")
        #expect(
            messages(of: conversation) == [
                ["role": "system", "content": "Be brief.\n\nThe user's name is Ann."], ["role": "user", "content": "Hello"],
                ["role": "assistant", "content": "Hi."], ["role": "user", "content": "(The user pressed 5 on the keypad.)"],
                [
                    "role": "assistant", "content": .null,
                    "tool_calls": [["id": "w", "type": "function", "function": ["name": "weather", "arguments": "{}"]]],
                ],
                ["role": "tool", "tool_call_id": "w", "content": "sunny"], ["role": "user", "content": "Thanks"],
            ])
    }

    /// Servers refuse a call without a result, a result elsewhere, and a result without a call.
    @Test func eachToolCallIsFollowedByItsResult() {
        let calls = [ToolCall(id: "a", name: "n", arguments: "{}"), ToolCall(id: "b", name: "n", arguments: "{}")]
        let conversation = Conversation(messages: [
            .assistant("One moment.", toolCalls: calls), .user("Stop."), .toolResult(id: "b", "done"), .toolResult(id: "x", "lost"),
            .assistant(""),
        ])
        let roles = messages(of: conversation).map { ($0["role"], $0["tool_call_id"], $0["content"]) }
        #expect(roles.count == 5)
        #expect(roles[2] == ("tool", "a", "The tool was not run."))
        #expect(roles[3] == ("tool", "b", "done"))
        #expect(roles[4] == ("user", nil, "Stop."))
    }

    @Test func toolsAreOfferedWithTheirSchemaAndTheEndOfTheCallIsOneOfThem() {
        let tools = [
            AssistantTool(name: "look", description: "Looks.", parameters: #"{"type":"object","required":["x"]}"#, url: "https://a.test"),
            AssistantTool(name: "bad", parameters: "not JSON", url: "https://a.test"),
            AssistantTool(name: "end_call", parameters: #"{"type":"object","own":1}"#, url: "https://a.test"),
        ]
        let definitions = ChatRequest.definitions(of: tools)
        #expect(definitions.map { $0["name"] } == ["look", "bad", "end_call"])
        #expect(definitions[0]["parameters"] == ["type": "object", "required": ["x"]])
        #expect(definitions[1]["parameters"] == ["type": "object", "properties": [:]])
        #expect(definitions[2]["parameters"] == ["type": "object", "properties": [:]])
    }

    private func messages(of conversation: Conversation) -> [JSONValue] {
        guard case .array(let messages) = ChatRequest(model: "m", conversation: conversation).body["messages"] else { return [] }
        return messages
    }
}
