internal import Synchronization

/// Events of one realtime session between its socket and its reader. Limited by count and by bytes of audio and text.
package final class RealtimeEventQueue: Sendable {
    package static let eventsMax = 8_192
    /// About six minutes of audio.
    package static let bytesMax = 16 << 20

    fileprivate struct State {
        var events: [RealtimeEvent] = []
        /// The index of the first event that was not read.
        var first = 0
        var bytes = 0
        var isFinished = false
        var error: ProviderError?
        var reader: CheckedContinuation<RealtimeEvent?, any Error>?
    }

    private let state = Mutex(State())

    package init() {}

    /// A stream for one reader.
    package var stream: AsyncThrowingStream<RealtimeEvent, any Error> {
        AsyncThrowingStream { try await self.next() }
    }

    /// - Returns: false if the queue is full. The event is lost then.
    package func append(_ event: RealtimeEvent) -> Bool {
        let (isAccepted, reader) = state.withLock { state -> (Bool, CheckedContinuation<RealtimeEvent?, any Error>?) in
            if state.isFinished { return (true, nil) }
            if let reader = state.reader.take() { return (true, reader) }
            guard state.events.count - state.first < Self.eventsMax, state.bytes + event.bytes <= Self.bytesMax else { return (false, nil) }
            state.events.append(event)
            state.bytes += event.bytes
            return (true, nil)
        }
        reader?.resume(returning: event)
        return isAccepted
    }

    /// Ends the stream after the queued events. Only the first call counts.
    ///
    /// - Parameter error: thrown to the reader; nil for an orderly end.
    package func finish(throwing error: ProviderError?) {
        let reader = state.withLock { state -> CheckedContinuation<RealtimeEvent?, any Error>? in
            guard !state.isFinished else { return nil }
            state.isFinished = true
            state.error = error
            return state.reader.take()
        }
        if let error { reader?.resume(throwing: error) } else { reader?.resume(returning: nil) }
    }

    private func next() async throws -> RealtimeEvent? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<RealtimeEvent?, any Error>? in
                    if let event = state.takeFirst() { return .success(event) }
                    if state.isFinished { return state.error.map { .failure($0) } ?? .success(nil) }
                    if Task.isCancelled { return .success(nil) }
                    state.reader = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(returning: nil)
        }
    }
}

extension RealtimeEventQueue.State {
    fileprivate mutating func takeFirst() -> RealtimeEvent? {
        guard first < events.count else { return nil }
        let event = events[first]
        first += 1
        bytes -= event.bytes
        // Removes what was read once it is half of the array.
        if first * 2 >= events.count {
            events.removeFirst(first)
            first = 0
        }
        return event
    }
}

extension RealtimeEvent {
    /// Bytes of its variable content.
    fileprivate var bytes: Int {
        switch self {
        case .audio(_, let samples): 2 * samples.count
        case .transcriptDelta(_, let text), .userTranscriptDelta(_, let text), .userTranscript(_, let text): text.utf8.count
        case .toolCall(let call): call.arguments.utf8.count
        case .inputCommitted, .responseStarted, .endCall, .responseDone, .error: 0
        }
    }
}
