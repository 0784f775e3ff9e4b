internal import OutgoingHTTP
internal import Synchronization

/// Interprets the body of a successful response, piece by piece. Pure: the parts do not depend on how the bytes are cut.
package protocol AnswerReader: Sendable {
    associatedtype Part: Sendable

    /// Increases with each byte or delta that belongs to the answer. Keep-alive comments do not count.
    var progress: Int { get }
    /// Whether nothing more is to come, even if the body goes on.
    var isComplete: Bool { get }
    /// - Parameter contentType: the `Content-Type` in lower case; empty if there is none.
    mutating func begin(contentType: String) throws(ProviderError)
    /// - Parameter parts: receives the parts that `bytes` complete, also if this throws.
    mutating func receive(_ bytes: [UInt8], into parts: inout [Part]) throws(ProviderError)
    /// The body ended. Not called once the answer is complete.
    mutating func finish(into parts: inout [Part]) throws(ProviderError)
}

/// A POST request to a path below the base URL.
struct ProviderRequest: Sendable {
    /// Begins with a slash.
    var path: String
    var contentType: String
    var accept: String
    var body: [UInt8]
}

extension ProviderServer {
    typealias Sink<Part> = AsyncThrowingStream<Part, any Error>.Continuation

    /// Connections to all providers of the process.
    private static let client = Result { try OutgoingClient(connections: .shared) }

    /// Bytes of an error's body, and of what follows a complete answer.
    private static let restBytesMax = 64 << 10

    /// A stream that `send` fills from a task of its own; it is cancelled when the stream's reader is.
    ///
    /// The stream holds at most one answer, whose length the reader limits.
    static func stream<Part: Sendable>(
        _ body: @escaping @Sendable (Sink<Part>) async throws -> Void
    ) -> AsyncThrowingStream<Part, any Error> {
        AsyncThrowingStream { sink in
            let task = Task {
                do {
                    try await body(sink)
                    sink.finish()
                } catch let failure as ProviderFailure {
                    sink.finish(throwing: failure.error)
                } catch is CancellationError {
                    // Only the reader's end cancels the task, and a reader that ended expects no error.
                    sink.finish()
                } catch {
                    sink.finish(throwing: error)
                }
            }
            sink.onTermination = { termination in
                if case .cancelled = termination { task.cancel() }
            }
        }
    }

    /// Sends a request and passes the answer's parts to `sink`, which is finished as soon as the answer is complete. Failed attempts are
    /// repeated as long as no part was delivered.
    ///
    /// - Throws: `ProviderFailure`, `CancellationError`.
    func send<Reader: AnswerReader>(_ request: ProviderRequest, reading reader: Reader, into sink: Sink<Reader.Part>) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var failures = 0
        while true {
            let watch = AnswerWatch(until: start + retry.timeout)
            do {
                return try await attempt(request, reading: reader, into: sink, watch: watch)
            } catch {
                guard let failure = ProviderFailure(error, at: name) else { throw CancellationError() }
                try Task.checkCancellation()
                if watch.isComplete { return }
                failures += 1
                let delay = retry.delay(
                    after: failure, failures: failures, elapsed: clock.now - start, random: Double.random(in: 0...1))
                guard !watch.hasDelivered, let delay else { throw failure }
                try await clock.sleep(for: delay)
            }
        }
    }

    /// The request and its deadline, whichever ends first.
    private func attempt<Reader: AnswerReader>(
        _ request: ProviderRequest, reading reader: Reader, into sink: Sink<Reader.Part>, watch: AnswerWatch
    ) async throws {
        try await withThrowingTaskGroup { group in
            defer { group.cancelAll() }
            group.addTask { try await receive(request, reading: reader, into: sink, watch: watch) }
            group.addTask { try await watch.expires(at: name) }
            try await group.next()
        }
    }

    private func receive<Reader: AnswerReader>(
        _ request: ProviderRequest, reading reader: Reader, into sink: Sink<Reader.Part>, watch: AnswerWatch
    ) async throws {
        var reader = reader
        let response = try await Self.client.get().open(httpRequest(request))
        guard (200..<300).contains(response.status) else {
            let body = (try? await response.body(bytesMax: Self.restBytesMax)) ?? []
            throw ProviderFailure(status: response.status, header: response.header, body: body, at: name)
        }
        var parts: [Reader.Part] = []
        func deliver() {
            for part in parts { sink.yield(part) }
            if !parts.isEmpty { watch.delivered() }
            parts.removeAll(keepingCapacity: true)
        }
        defer { deliver() }
        try reader.begin(contentType: response.header("content-type")?.lowercased() ?? "")
        var bytesAfter = 0
        while let piece = try await response.next() {
            guard !reader.isComplete else {
                // Reading to the end of the body keeps the connection for the next request.
                bytesAfter += piece.count
                if bytesAfter > Self.restBytesMax { return }
                continue
            }
            let progress = reader.progress
            try reader.receive(piece, into: &parts)
            deliver()
            if reader.progress > progress { watch.extend(until: ContinuousClock.now + retry.timeout) }
            if reader.isComplete {
                watch.completed()
                sink.finish()
            }
        }
        if !reader.isComplete { try reader.finish(into: &parts) }
    }

    private func httpRequest(_ request: ProviderRequest) -> OutgoingHTTPRequest {
        var headers = [OutgoingHeader("content-type", request.contentType), OutgoingHeader("accept", request.accept)]
        if let key { headers.append(OutgoingHeader("authorization", key.authorization)) }
        if let traceparent = ConversationTrace.traceparent { headers.append(OutgoingHeader("traceparent", traceparent)) }
        return OutgoingHTTPRequest(url: baseURL + request.path, headers: headers, body: request.body)
    }
}

/// The deadline of one attempt, and what became of it.
private final class AnswerWatch: Sendable {
    private struct State {
        var deadline: ContinuousClock.Instant
        var hasDelivered = false
        var isComplete = false
    }

    private let state: Mutex<State>

    init(until deadline: ContinuousClock.Instant) {
        state = Mutex(State(deadline: deadline))
    }

    var hasDelivered: Bool { state.withLock { $0.hasDelivered } }
    var isComplete: Bool { state.withLock { $0.isComplete } }

    func extend(until deadline: ContinuousClock.Instant) { state.withLock { $0.deadline = deadline } }
    func delivered() { state.withLock { $0.hasDelivered = true } }
    func completed() { state.withLock { $0.isComplete = true } }

    /// Waits until the deadline has passed.
    ///
    /// - Throws: `ProviderFailure` of code `timeout`, or `CancellationError`.
    func expires(at server: String) async throws {
        while case let deadline = state.withLock({ $0.deadline }), deadline > .now {
            try await Task.sleep(until: deadline, clock: .continuous)
        }
        throw ProviderFailure(ProviderError(.timeout, "\(server) did not answer in time"))
    }
}
