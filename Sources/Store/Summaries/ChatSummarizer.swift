internal import Wire

/// Summaries from any server with OpenAI's chat API (`POST /v1/chat/completions`), which answers as a JSON schema says.
///
/// It makes the request and reads the answer; who carries them is given from outside.
package struct ChatSummarizer: Summarizer {
    package struct Settings: Sendable {
        /// Of the whole path: `https://host/v1/chat/completions`.
        package var url: String
        package var model: String
        /// Sent as `Authorization` as it is; nothing is sent if nil.
        package var authorization: String?

        package init(url: String, model: String, authorization: String? = nil) {
            self.url = url
            self.model = model
            self.authorization = authorization
        }
    }

    private let settings: Settings
    private let send: Outgoing

    package init(_ settings: Settings, sending send: @escaping Outgoing) {
        self.settings = settings
        self.send = send
    }

    /// - Throws: `ChatSummaryError`, or what the transport throws.
    package func summary(of session: Session, turns: [Turn]) async throws -> SummaryContent {
        let response = try await send(request(for: turns))
        guard 200...299 ~= response.status else { throw ChatSummaryError.refused(status: response.status) }
        return try ChatAnswer.content(of: response.body)
    }

    func request(for turns: [Turn]) throws -> OutgoingRequest {
        var headers = [OutgoingHeader("content-type", "application/json"), OutgoingHeader("accept", "application/json")]
        if let authorization = settings.authorization { headers.append(OutgoingHeader("authorization", authorization)) }
        let question = ChatQuestion(model: settings.model, transcript: ChatTranscript(turns).text)
        return OutgoingRequest(url: settings.url, headers: headers, body: try JSON.encode(question, names: .asDeclared))
    }
}

/// Why a chat server gave no summary.
package enum ChatSummaryError: Error, Hashable, Sendable {
    case refused(status: Int)
    /// The model would not, or was cut off.
    case unfinished
    /// What it said is not what the schema asks for.
    case unreadable

    /// Whether the same may succeed later.
    package var isRetryable: Bool {
        switch self {
        case .refused(let status): status == 408 || status == 429 || status >= 500
        case .unfinished, .unreadable: true
        }
    }
}
