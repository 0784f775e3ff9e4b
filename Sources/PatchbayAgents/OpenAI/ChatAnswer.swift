internal import Wire

/// Interprets the answer to a chat completion: an event stream, or one JSON document from servers that do not stream.
package struct ChatAnswer: AnswerReader {
    /// Pieces of text, at most a token each with servers that stream token by token.
    package static let textPiecesMax = 16_000
    private static let documentBytesMax = ServerSentEventParser.streamBytesMax

    private var parser = ServerSentEventParser()
    /// The document of a server that does not stream; nil for an event stream.
    private var document: [UInt8]?
    private var toolCalls: ToolCallAssembly
    private var textPieces = 0
    private var isFinished = false
    private var hasContent = false
    package private(set) var progress = 0
    /// `[DONE]` was received.
    package private(set) var isComplete = false

    /// - Parameter idPrefix: begins the id of tool calls that have none; unique within the conversation.
    package init(idPrefix: String) {
        toolCalls = ToolCallAssembly(idPrefix: idPrefix)
    }

    package mutating func begin(contentType: String) throws(ProviderError) {
        if contentType.hasPrefix("text/html") {
            throw ProviderError(.invalidResponse, "the server sends a web page instead of an answer; check base_url")
        }
        if contentType.hasPrefix("application/json") { document = [] }
    }

    package mutating func receive(_ bytes: [UInt8], into parts: inout [ResponsePart]) throws(ProviderError) {
        if document != nil {
            document?.append(contentsOf: bytes)
            guard document?.count ?? 0 <= Self.documentBytesMax else {
                throw ProviderError(.invalidResponse, "the answer is longer than \(Self.documentBytesMax) bytes")
            }
            return
        }
        var events: [ServerSentEvent] = []
        let result = Result { () throws(ProviderError) in try parser.append(bytes, to: &events) }
        for event in events { try receive(event, into: &parts) }
        try result.get()
    }

    package mutating func finish(into parts: inout [ResponsePart]) throws(ProviderError) {
        if let document {
            try receive(chunk: document, into: &parts)
            guard isFinished else { throw ProviderError(.invalidResponse, "the server sends JSON without an answer") }
            return
        }
        var events: [ServerSentEvent] = []
        parser.finish(into: &events)
        do throws(ProviderError) {
            for event in events { try receive(event, into: &parts) }
        } catch  where error.code == .invalidResponse && !isFinished {
            throw ProviderError(.disconnected, "the answer ends in the middle of an event")
        }
        if isComplete || isFinished { return }
        if progress == 0 {
            throw ProviderError(.invalidResponse, "the body contains no answer")
        }
        throw ProviderError(.disconnected, "the answer ends without [DONE] and without a finish_reason")
    }

    private mutating func receive(_ event: ServerSentEvent, into parts: inout [ResponsePart]) throws(ProviderError) {
        guard !isComplete else { return }
        if event.data.elementsEqual("[DONE]".utf8) {
            isComplete = true
            if !isFinished { try end(reason: "stop", into: &parts) }
        } else {
            try receive(chunk: event.data, into: &parts)
        }
    }

    private mutating func receive(chunk bytes: [UInt8], into parts: inout [ResponsePart]) throws(ProviderError) {
        guard let chunk = try? JSON.decode(ChatChunk.self, from: bytes, names: .snakeCase) else {
            throw ProviderError(.invalidResponse, "an event of the answer is malformed")
        }
        if let error = chunk.error { throw error.providerError(at: "the answer") }
        for choice in chunk.choices ?? [] where choice.index ?? 0 == 0 && !isFinished {
            if let content = choice.delta ?? choice.message { try receive(content, into: &parts) }
            if let reason = choice.finishReason { try end(reason: reason, into: &parts) }
        }
    }

    private mutating func receive(_ content: ChatChunk.Content, into parts: inout [ResponsePart]) throws(ProviderError) {
        for text in [content.content, content.refusal] {
            guard let text, !text.isEmpty else { continue }
            textPieces += 1
            progress += 1
            guard textPieces <= Self.textPiecesMax else {
                throw ProviderError(.invalidResponse, "the answer is longer than \(Self.textPiecesMax) pieces of text")
            }
            if !hasContent { hasContent = text.contains { !$0.isWhitespace } }
            parts.append(.text(text))
        }
        for piece in content.toolCalls ?? [] {
            progress += 1
            try toolCalls.append(
                .init(index: piece.index, id: piece.id, name: piece.function?.name, arguments: piece.function?.arguments))
        }
    }

    /// The model has finished. Its tool calls are complete.
    private mutating func end(reason: String, into parts: inout [ResponsePart]) throws(ProviderError) {
        isFinished = true
        if reason == "length", !toolCalls.isEmpty {
            throw ProviderError(.invalidResponse, "the model's length limit cut a tool call")
        }
        let calls = try toolCalls.calls()
        guard hasContent || !calls.isEmpty else { throw ProviderError(.invalidResponse, "the answer is empty (\(Self.known(reason)))") }
        parts += calls.filter { $0.name != ChatRequest.endCallTool }.map { .toolCall($0) }
        if calls.contains(where: { $0.name == ChatRequest.endCallTool }) { parts.append(.endCall) }
    }

    /// For messages, which contain nothing that a model wrote.
    private static func known(_ reason: String) -> String {
        ["stop", "length", "content_filter", "tool_calls"].contains(reason) ? reason : "other reason"
    }
}

/// A chunk of a streamed completion, or a whole one.
private struct ChatChunk: Decodable {
    var choices: [Choice]?
    var error: ServerErrorBody?

    struct Choice: Decodable {
        var index: Int?
        var delta: Content?
        var message: Content?
        var finishReason: String?
    }

    struct Content: Decodable {
        var content: String?
        /// What the model says when it declines.
        var refusal: String?
        var toolCalls: [ToolCallPiece]?
    }

    struct ToolCallPiece: Decodable {
        var index: Int?
        var id: String?
        var function: Function?
    }

    struct Function: Decodable {
        var name: String?
        var arguments: String?
    }
}

/// Joins the pieces of tool calls in a streamed answer.
///
/// A piece belongs to the call with its index. Servers deviate: some omit the index, some send several whole calls with index 0 and different
/// ids, some send no id at all.
package struct ToolCallAssembly: Sendable {
    /// Calls in one answer.
    package static let callsMax = 16

    /// A piece of one call, as the server sends it.
    package struct Piece: Sendable, Hashable {
        package var index: Int?
        package var id: String?
        package var name: String?
        package var arguments: String?

        package init(index: Int? = nil, id: String? = nil, name: String? = nil, arguments: String? = nil) {
            self.index = index
            self.id = id
            self.name = name
            self.arguments = arguments
        }
    }

    private struct Entry {
        var index: Int
        var call: ToolCall
    }

    private let idPrefix: String
    private var entries: [Entry] = []

    /// - Parameter idPrefix: begins the id of calls that have none; unique within the conversation.
    package init(idPrefix: String) {
        self.idPrefix = idPrefix
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// - Throws: `ProviderError` of code `invalidResponse` beyond `callsMax`.
    package mutating func append(_ piece: Piece) throws(ProviderError) {
        let position = try position(of: piece)
        if let id = piece.id, !id.isEmpty { entries[position].call.id = id }
        // Some servers repeat the name in each piece.
        if let name = piece.name, entries[position].call.name.isEmpty { entries[position].call.name = name }
        entries[position].call.arguments += piece.arguments ?? ""
    }

    private mutating func position(of piece: Piece) throws(ProviderError) -> Int {
        let id = piece.id ?? ""
        let index = piece.index ?? entries.last?.index ?? 0
        if let position = entries.lastIndex(where: { $0.index == index }) {
            let known = entries[position].call.id
            if id.isEmpty || known.isEmpty || known == id { return position }
        }
        guard entries.count < Self.callsMax else {
            throw ProviderError(.invalidResponse, "the answer contains more than \(Self.callsMax) tool calls")
        }
        entries.append(Entry(index: index, call: ToolCall(id: "", name: "", arguments: "")))
        return entries.count - 1
    }

    /// The complete calls, by index; calls with the same index in the order of their arrival.
    ///
    /// - Throws: `ProviderError` of code `invalidResponse` for a call without a name.
    package func calls() throws(ProviderError) -> [ToolCall] {
        var calls: [ToolCall] = []
        let ordered = entries.enumerated().sorted { ($0.element.index, $0.offset) < ($1.element.index, $1.offset) }
        for (number, entry) in ordered {
            var call = entry.call
            guard !call.name.isEmpty else { throw ProviderError(.invalidResponse, "the answer contains a tool call without a name") }
            if call.id.isEmpty { call.id = "\(idPrefix)-\(number)" }
            if call.arguments.isEmpty { call.arguments = "{}" }
            calls.append(call)
        }
        return calls
    }
}
