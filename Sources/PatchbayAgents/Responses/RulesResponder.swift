internal import Wire

internal import struct Foundation.Date

/// A responder without a language model: answers a few kinds of requests by rules, in English.
///
/// It makes an assistant usable without network, and tests deterministic. It greets, tells time and date, counts, repeats, remembers names and
/// what was said, says what it is, uses the session's context, calls tools that are named, and ends the call on request.
public struct RulesResponder: Responder {
    private let name: String
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - name: what the assistant calls itself.
    public init(name: String = "the Patchbay assistant") {
        self.init(name: name) { Date() }
    }

    init(name: String, now: @escaping @Sendable () -> Date) {
        self.name = name
        self.now = now
    }

    public func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
        let parts = RuleBook(conversation: conversation, name: name, now: now()).respond()
        return AsyncThrowingStream { stream in
            for part in parts { stream.yield(part) }
            stream.finish()
        }
    }
}
