internal import Synchronization
internal import Wire

/// Somebody who waits for an answer about calls, and gets exactly one: where nobody is left to give it, the word that there will be none.
package final class CallWaiter<Answer: Sendable>: Sendable {
    typealias Outcome = Result<Answer, CallError>

    private let continuation: Mutex<CheckedContinuation<Outcome, Never>?>

    private init(_ continuation: CheckedContinuation<Outcome, Never>) {
        self.continuation = Mutex(continuation)
    }

    deinit {
        resume(.failure(CallError(.limitExceeded, "the gateway cannot answer now; try again", retryable: true)))
    }

    func resume(_ outcome: Outcome) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: outcome)
    }

    static func answer(_ ask: (CallWaiter) -> Void) async throws(CallError) -> Answer {
        try await withCheckedContinuation { ask(CallWaiter($0)) }.get()
    }
}
