/// A failure of a speech or language provider.
public struct ProviderError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A model, a library or a program is missing or cannot be loaded. The message says how to install it.
        case unavailable
        /// The provider does not answer in time.
        case timeout
        /// The provider refuses for now: rate limit or overload.
        case overloaded
        /// The provider rejects the request: credentials, model, parameters.
        case rejected
        /// The provider's answer is malformed, truncated or over a limit.
        case invalidResponse
        /// The connection or the helper process ended before the answer was complete.
        case disconnected
    }

    public var code: Code
    /// For logs: what failed, where, and what to do. Contains no key and nothing that was said.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same request may succeed when it is repeated.
    public var isRetryable: Bool {
        switch code {
        case .timeout, .overloaded, .disconnected: true
        case .unavailable, .rejected, .invalidResponse: false
        }
    }

    public var description: String { "\(code.rawValue): \(message)" }
}

extension AsyncThrowingStream where Failure == any Error {
    /// A stream that a task of its own fills; the task is cancelled when the stream's reader is.
    static func filled(by body: @escaping @Sendable (Continuation) async throws -> Void) -> Self where Element: Sendable {
        let (stream, sink) = makeStream()
        let task = Task {
            do {
                try await body(sink)
                sink.finish()
            } catch {
                sink.finish(throwing: error)
            }
        }
        sink.onTermination = { end in if case .cancelled = end { task.cancel() } }
        return stream
    }
}
