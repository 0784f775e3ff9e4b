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

    /// - Parameter environment: contains the API key; nil for the environment of the process.
    /// - Throws: `ProviderError` of code `unavailable`, whose message names the setting to correct.
    public init(_ settings: ProviderSettings, environment: [String: String]? = nil) throws(ProviderError) {
        server = try ProviderServer(settings, environment: environment)
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
