public import Wire

/// A language model behind OpenAI's chat completions, `POST {base_url}/chat/completions`, streamed.
///
/// A failed request is repeated as long as nothing of its answer was delivered and `timeout_ms` has not passed. An answer that is too long,
/// malformed, empty or truncated ends with a `ProviderError`; the parts before it stay valid.
public struct OpenAIResponder: Responder {
    private let server: ProviderServer

    /// - Parameter environment: contains the API key; nil for the environment of the process.
    /// - Throws: `ProviderError` of code `unavailable`, whose message names the setting to correct.
    public init(_ settings: ProviderSettings, environment: [String: String]? = nil) throws(ProviderError) {
        server = try ProviderServer(settings, environment: environment)
    }

    public func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
        let request = ProviderRequest(
            path: "/chat/completions", contentType: "application/json", accept: "text/event-stream",
            body: ChatRequest(model: server.model, conversation: conversation).bytes)
        let answer = ChatAnswer(idPrefix: "call-" + Hex.encode(randomBytes(8)))
        return ProviderServer.stream { [server] sink in try await server.send(request, reading: answer, into: sink) }
    }
}
