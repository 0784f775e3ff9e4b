internal import Wire

/// A response that is requested before the end of the user's turn is decided: at most one at a time. A pure value except for the request.
///
/// Its parts wait in its stream, so that nothing is spoken and no tool is run unless the turn is taken with the same conversation. Letting go
/// of the stream cancels the request.
struct ResponsePreparation: Sendable {
    private struct Prepared: Sendable {
        let messages: [UserMessage]
        let conversation: Conversation
        let parts: AsyncThrowingStream<ResponsePart, any Error>
    }

    private var prepared: Prepared?
    /// The turn was taken; its task takes the response.
    private var claimed: Prepared?
    /// Responses that were requested in vain.
    private(set) var discarded = 0

    /// Whether nothing has changed since the response to `messages` was requested; nil for none.
    func isCurrent(for messages: [UserMessage]?) -> Bool { prepared?.messages == messages }

    mutating func begin(_ messages: [UserMessage], _ conversation: Conversation, with responder: any Responder) {
        prepared = Prepared(messages: messages, conversation: conversation, parts: responder.respond(to: conversation))
    }

    /// Speech resumed, or the text has changed.
    ///
    /// - Returns: whether there was a response.
    @discardableResult
    mutating func discard() -> Bool {
        guard prepared.take() != nil else { return false }
        discarded += 1
        return true
    }

    /// A turn that responds to `messages` begins. The response to anything else is discarded.
    mutating func claim(for messages: [UserMessage]) {
        claimed = nil
        if isCurrent(for: messages) { claimed = prepared.take() } else { discard() }
    }

    /// The turn that has claimed the response was cancelled.
    mutating func release() {
        claimed = nil
    }

    /// - Returns: the claimed response if it is one to `conversation`.
    mutating func take(for conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error>? {
        let response = claimed.take()
        return response?.conversation == conversation ? response?.parts : nil
    }
}
