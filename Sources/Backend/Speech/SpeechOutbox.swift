internal import Logging
internal import Store
internal import Synchronization
internal import Wire

/// The effects of a `SpeechQueue` that are performed one after another outside the service: events for requesters, and failures to store.
///
/// Bounded: progress is dropped while too many wait, and a job has few other effects.
final class SpeechOutbox: Sendable {
    /// Waiting effects from which on progress is dropped.
    private static let waitingMax = 1_000

    private let store: Clips
    /// Sends a message on the channel of a user or an assistant, if it is connected.
    private let tell: @Sendable (Identity, [UInt8]) async -> Void
    private let log = Logger(label: "patchbay.speech")
    private let effects: AsyncStream<SpeechQueue.Effect>
    private let sink: AsyncStream<SpeechQueue.Effect>.Continuation
    private let waiting = Mutex(0)

    init(store: Clips, tell: @escaping @Sendable (Identity, [UInt8]) async -> Void) {
        self.store = store
        self.tell = tell
        (effects, sink) = AsyncStream.makeStream(of: SpeechQueue.Effect.self)
    }

    func add(_ effect: SpeechQueue.Effect) {
        let isAccepted = waiting.withLock { waiting in
            if case .tell(.progress, _) = effect, waiting >= Self.waitingMax { return false }
            waiting += 1
            return true
        }
        if isAccepted { sink.yield(effect) }
    }

    /// Performs effects until `finish()`.
    func run() async {
        for await effect in effects {
            waiting.withLock { $0 -= 1 }
            switch effect {
            case .tell(let event, let requesters):
                for channel in requesters.compactMap(\.channel) { await tell(channel, event.bytes) }
            case .fail(let id, let reason):
                do {
                    try await StoreError.retryingWhileUnavailable { try await store.fail(id, reason: reason) }
                } catch {
                    log.error("a failed speech clip was not stored", metadata: ["error": "\(error)"])
                }
            case .start, .stop: break
            }
        }
    }

    func finish() { sink.finish() }
}
