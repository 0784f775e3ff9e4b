internal import Foundation
internal import Synchronization

/// One request and its response: the loop's thread fills it, one task reads it.
final class Transfer: Sendable {
    struct Head: Sendable {
        var status: Int
        /// By their names in lower case.
        var fields: [String: String]
    }

    /// Unread bytes beyond which receiving pauses.
    private static let unreadBytesMax = 256 << 10
    /// Bytes of all heads of a response, and of its trailers.
    private static let headBytesMax = 64 << 10

    let request: OutgoingHTTPRequest
    let url: OutgoingURL
    let authority: String?
    let connections: OutgoingClient.Connections
    let timeout: Duration?

    private struct State {
        var headBytes = 0
        var status = 0
        var fields: [String: String] = [:]
        var head: Head?
        /// Received, and not read yet.
        var body: [UInt8] = []
        var isPaused = false
        var end: Result<Void, OutgoingError>?
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    init(
        _ request: OutgoingHTTPRequest, to url: OutgoingURL, authority: String?, connections: OutgoingClient.Connections, timeout: Duration?
    ) {
        self.request = request
        self.url = url
        self.authority = authority
        self.connections = connections
        self.timeout = timeout
    }

    // MARK: The loop's thread

    /// A line of the head with its line end; an empty one ends it. Interim responses (RFC 9110 section 15.2) have heads of their own.
    ///
    /// - Returns: whether the transfer goes on.
    func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
        update { state in
            state.headBytes += line.count
            guard state.headBytes <= Self.headBytesMax else { return false }
            // Trailers follow the body.
            guard state.head == nil else { return true }
            let text = unsafe String(decoding: line, as: UTF8.self)
            if text.hasPrefix("HTTP/") {
                state.fields = [:]
                state.status = text.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 0
            } else if let colon = text.firstIndex(of: ":") {
                let value = text[text.index(after: colon)...]
                state.fields[text[..<colon].lowercased()] = value.trimmingCharacters(in: .whitespacesAndNewlines)
            } else if state.status >= 200, text.allSatisfy(\.isNewline) {
                state.head = Head(status: state.status, fields: state.fields)
            }
            return true
        }
    }

    /// - Returns: whether there was room; otherwise libcurl keeps the bytes, and the reader will post `resume`.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        update { state in
            guard state.body.count < Self.unreadBytesMax else {
                state.isPaused = true
                return false
            }
            unsafe state.body += bytes
            return true
        }
    }

    func finish(_ end: Result<Void, OutgoingError>) {
        update { state in if state.end == nil { state.end = end } }
    }

    /// Changes the state, and wakes the reader if there is something to read.
    private func update<Value: Sendable>(_ change: (inout State) -> Value) -> Value {
        let (value, reader) = state.withLock { state in
            let value = change(&state)
            guard state.head != nil || state.end != nil else { return (value, nil as CheckedContinuation<Void, Never>?) }
            return (value, state.reader.take())
        }
        reader?.resume()
        return value
    }

    // MARK: The reader's task

    func head() async throws(OutgoingError) -> Head {
        let noResponse = OutgoingError.connection("\(url.host) sent no response")
        return try await read { state in
            if let head = state.head { return .success(head) }
            return state.end.map { end in end.flatMap { .failure(noResponse) } }
        }
    }

    /// - Returns: nil at the end of the body.
    func bytes() async throws(OutgoingError) -> [UInt8]? {
        var isPaused = false
        let bytes: [UInt8]? = try await read { state in
            guard state.body.isEmpty else {
                defer { state.body = [] }
                (isPaused, state.isPaused) = (state.isPaused, false)
                return .success(state.body)
            }
            return state.end.map { end in end.map { nil } }
        }
        if isPaused { TransferLoop.shared.post(.resume(self)) }
        return bytes
    }

    /// Waits until `take` returns something. Cancelling the task ends the transfer.
    private func read<Value>(_ take: (inout State) -> Result<Value, OutgoingError>?) async throws(OutgoingError) -> Value {
        let result = await withTaskCancellationHandler {
            while true {
                var result: Result<Value, OutgoingError>?
                await withCheckedContinuation { continuation in
                    state.withLock { state in
                        result = take(&state)
                        if result == nil { state.reader = continuation }
                    }
                    if result != nil { continuation.resume() }
                }
                if let result { return result }
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    /// Ends the transfer, from any thread.
    func cancel() {
        let isRunning = update { state in
            guard state.end == nil else { return false }
            state.end = .failure(.cancelled)
            return true
        }
        if isRunning { TransferLoop.shared.post(.cancel(self)) }
    }
}
