import PatchbayAgents
import Testing
import Wire

struct ChatAnswerTests {
    @Test func textArrivesInPiecesAndToolCallsWhenTheyAreComplete() throws {
        let parts = try answer([
            #"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#, #"{"choices":[{"delta":{"content":"Let me "}}]}"#,
            #"{"choices":[{"delta":{"content":"see."}}]}"#,
            #"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"x\":"}}]}}]}"#,
            #"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}"#,
            #"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#, #"{"choices":[],"usage":{"total_tokens":9}}"#, "[DONE]",
        ])
        #expect(parts == [.text("Let me "), .text("see."), .toolCall(ToolCall(id: "a", name: "look", arguments: #"{"x":1}"#))])
    }

    @Test func theBuiltInToolEndsTheCallAfterTheOtherTools() throws {
        let parts = try answer([
            #"{"choices":[{"delta":{"content":"Bye."}}]}"#,
            #"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"e","function":{"name":"end_call","arguments":""}}]}}]}"#,
            #"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"s","function":{"name":"save"}}]},"finish_reason":"tool_calls"}]}"#,
            "[DONE]",
        ])
        #expect(parts == [.text("Bye."), .toolCall(ToolCall(id: "s", name: "save", arguments: "{}")), .endCall])
    }

    @Test func whereAStreamIsCutDoesNotMatter() throws {
        let stream = Array("data: {\"choices\":[{\"delta\":{\"content\":\"世界\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\n\n".utf8)
        for position in 0...stream.count {
            var (reader, parts) = (ChatAnswer(idPrefix: "c"), [ResponsePart]())
            try reader.begin(contentType: "text/event-stream; charset=utf-8")
            try reader.receive(Array(stream[..<position]), into: &parts)
            try reader.receive(Array(stream[position...]), into: &parts)
            if !reader.isComplete { try reader.finish(into: &parts) }
            #expect(parts == [.text("世界")])
        }
    }

    @Test(arguments: [
        // Without an end.
        ([#"{"choices":[{"delta":{"content":"Half"}}]}"#], ProviderError.Code.disconnected),
        ([#"{"choices":[{"delta":{"content":"Half"}}]}"#, #"{"choices":[{"de"#], .invalidResponse),
        // Nothing to say.
        (["[DONE]"], .invalidResponse), ([#"{"choices":[{"delta":{"content":" \n"},"finish_reason":"stop"}]}"#], .invalidResponse),
        ([], .invalidResponse),
        // Errors within the stream.
        ([#"{"error":{"type":"server_error","message":"m"}}"#], .overloaded), ([#"{"error":{"code":503}}"#], .overloaded),
        ([#"{"error":{"code":404,"message":"m"}}"#], .rejected), ([#"{"error":"out of memory"}"#], .overloaded),
        ([#"{"error":{"type":"invalid_request_error"}}"#], .rejected),
        // Malformed.
        (["null"], .invalidResponse), ([#"{"choices":[{"delta":{"content":7}}]}"#], .invalidResponse),
        ([#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a"}]},"finish_reason":"stop"}]}"#], .invalidResponse),
        ([#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"a"}}]},"finish_reason":"length"}]}"#], .invalidResponse),
    ])
    func answersThatAreNoneEndWithAnError(_ events: [String], _ code: ProviderError.Code) {
        let error = #expect(throws: ProviderError.self) { try answer(events) }
        #expect(error?.code == code)
    }

    @Test func anEventThatTheEndCutsMeansThatTheConnectionWasLost() throws {
        var (reader, parts) = (ChatAnswer(idPrefix: "c"), [ResponsePart]())
        try reader.receive(Array("data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\ndata: {\"cho".utf8), into: &parts)
        let error = #expect(throws: ProviderError.self) { try reader.finish(into: &parts) }
        #expect(error?.code == .disconnected && parts == [.text("Half")])
    }

    @Test func anAnswerWithoutEndStopsAtItsLimitAndKeepsWhatPrecedesIt() {
        var (reader, parts) = (ChatAnswer(idPrefix: "c"), [ResponsePart]())
        let event = Array("data: {\"choices\":[{\"delta\":{\"content\":\"m\"}}]}\n\n".utf8)
        let error = #expect(throws: ProviderError.self) {
            for _ in 0..<100_000 { try reader.receive(event, into: &parts) }
        }
        #expect(error?.code == .invalidResponse && parts.count == ChatAnswer.textPiecesMax)
    }

    @Test func whatAServerWroteIsNotRepeatedInMessages() {
        let error = #expect(throws: ProviderError.self) {
            try answer([#"{"error":{"type":"my secret is 1234","code":"sk-live","message":"you said so"}}"#])
        }
        #expect(error?.message.contains("secret") == false && error?.message.contains("said") == false)
    }

    @Test func aServerThatDoesNotStreamIsUnderstood() throws {
        var (reader, parts) = (ChatAnswer(idPrefix: "c"), [ResponsePart]())
        try reader.begin(contentType: "application/json")
        try reader.receive(Array(#"{"choices":[{"message":{"content":"Hi.","#.utf8), into: &parts)
        try reader.receive(Array(#""tool_calls":[{"function":{"name":"n"}}]},"finish_reason":"stop"}]}"#.utf8), into: &parts)
        try reader.finish(into: &parts)
        #expect(parts == [.text("Hi."), .toolCall(ToolCall(id: "c-0", name: "n", arguments: "{}"))])
    }

    private func answer(_ events: [String]) throws -> [ResponsePart] {
        var (reader, parts) = (ChatAnswer(idPrefix: "c"), [ResponsePart]())
        try reader.begin(contentType: "text/event-stream")
        for event in events { try reader.receive(Array("data: \(event)\n\n".utf8), into: &parts) }
        if !reader.isComplete { try reader.finish(into: &parts) }
        return parts
    }
}

struct ToolCallAssemblyTests {
    typealias Piece = ToolCallAssembly.Piece

    @Test(arguments: [
        ("by index", [Piece(index: 1, id: "b", name: "two"), Piece(index: 0, id: "a", name: "one"), Piece(index: 1, arguments: "{}")]),
        ("whole calls that all have index 0", [Piece(index: 0, id: "a", name: "one"), Piece(index: 0, id: "b", name: "two")]),
        ("without an index", [Piece(id: "a", name: "one"), Piece(arguments: "{"), Piece(arguments: "}"), Piece(id: "b", name: "two")]),
        (
            "with id and name in each piece",
            [
                Piece(index: 0, id: "a", name: "one"), Piece(index: 0, id: "a", name: "one", arguments: "{}"),
                Piece(index: 1, id: "b", name: "two"),
            ]
        ),
        (
            "with an empty id in later pieces",
            [
                Piece(index: 0, id: "a", name: "one"), Piece(index: 0, id: "", name: "", arguments: "{}"),
                Piece(index: 1, id: "b", name: "two"),
            ]
        ),
    ])
    func piecesAreJoined(_ way: String, _ pieces: [Piece]) throws {
        var assembly = ToolCallAssembly(idPrefix: "c")
        for piece in pieces { try assembly.append(piece) }
        #expect(try assembly.calls() == [ToolCall(id: "a", name: "one", arguments: "{}"), ToolCall(id: "b", name: "two", arguments: "{}")])
    }

    @Test func moreCallsThanTheLimitAreRefused() throws {
        var assembly = ToolCallAssembly(idPrefix: "c")
        for index in 0..<ToolCallAssembly.callsMax { try assembly.append(Piece(index: index, name: "n")) }
        #expect(throws: ProviderError.self) { try assembly.append(Piece(index: 99, name: "n")) }
        #expect(Set(try assembly.calls().map(\.id)).count == ToolCallAssembly.callsMax)
    }
}
