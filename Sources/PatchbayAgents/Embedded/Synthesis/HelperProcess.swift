internal import Glibc
internal import Logging
internal import PatchbayClient
internal import Synchronization
internal import Wire

/// A supervised child process that responds to requests on its standard input with messages on its standard output.
///
/// The process is started at once and restarted with increasing delays when it ends. Several requests may be in progress. It ends with this object;
/// should this process be killed, it ends because its input ends.
final class HelperProcess: Sendable {
    struct Command: Hashable, Sendable {
        /// For logs and errors.
        var name: String
        var executable: String
        var arguments: [String]
    }

    typealias Parts = AsyncThrowingStream<[UInt8], any Error>

    private let shared: Shared
    private let supervision: Task<Void, Never>

    /// - Parameter checkReady: checks the body of the message `ready`; an error ends the process.
    init(
        _ command: Command, settings: HelperRequests.Settings = .init(), logger: Logger,
        checkReady: @escaping @Sendable ([UInt8]) throws -> Void = { _ in }
    ) {
        // A write to a process that has just ended must fail instead of ending this process.
        _ = signal(SIGPIPE, SIG_IGN)
        let shared = Shared(settings: settings)
        self.shared = shared
        let supervisor = HelperSupervisor(command: command, shared: shared, logger: logger, checkReady: checkReady)
        supervision = Task { await supervisor.run() }
    }

    deinit {
        supervision.cancel()
        shared.end()
    }

    /// Whether requests are sent at once. A process takes about 1 s to become ready.
    var isReady: Bool { shared.state.withLock { $0.requests.isReady } }
    /// The running process, for tests.
    var processID: Int32? { shared.state.withLock { $0.processID } }
    /// Processes that were started.
    var starts: Int { shared.state.withLock { $0.starts } }

    /// - Returns: the bodies of the response's parts. The stream throws `ProviderError`: `disconnected` if the process ended meanwhile,
    ///   `unavailable` if it does not start. Cancelling the reading task abandons the request.
    func request(_ body: [UInt8]) -> Parts {
        let (stream, parts) = Parts.makeStream()
        do {
            let number = try shared.admit(body, parts)
            parts.onTermination = { [weak shared] end in if case .cancelled = end { shared?.cancel(number) } }
        } catch {
            parts.finish(throwing: error)
        }
        return stream
    }

    /// State shared by requests and the supervisor.
    final class Shared: Sendable {
        struct State {
            var requests: HelperRequests
            var open: [UInt32: (body: [UInt8], parts: Parts.Continuation)] = [:]
            /// Bytes to be written to the running process.
            var outbox: AsyncStream<[UInt8]>.Continuation?
            var processID: Int32?
            var starts = 0
        }

        let state: Mutex<State>

        init(settings: HelperRequests.Settings) {
            state = Mutex(State(requests: HelperRequests(settings)))
        }

        func admit(_ body: [UInt8], _ parts: Parts.Continuation) throws(ProviderError) -> UInt32 {
            let result = state.withLock { state in
                Result { () throws(ProviderError) in
                    let (number, isSentNow) = try state.requests.admit(at: MediaClock.now)
                    state.open[number] = (body, parts)
                    if isSentNow { state.outbox?.yield(HelperMessage(.request, number, body).encoded) }
                    return number
                }
            }
            return try result.get()
        }

        func cancel(_ number: UInt32) {
            state.withLock { state in
                state.open[number] = nil
                if state.requests.cancelled(number) { state.outbox?.yield(HelperMessage(.cancel, number).encoded) }
            }
        }

        func finish(_ number: UInt32, throwing error: ProviderError? = nil) {
            let parts = state.withLock { state in
                state.requests.finished(number)
                return state.open.removeValue(forKey: number)?.parts
            }
            parts?.finish(throwing: error)
        }

        func processStarted(_ processID: Int32, outbox: AsyncStream<[UInt8]>.Continuation) {
            state.withLock { state in
                state.requests.started(at: MediaClock.now)
                state.outbox = outbox
                state.processID = processID
                state.starts += 1
            }
        }

        func processBecameReady() {
            state.withLock { state in
                for number in state.requests.becameReady(at: MediaClock.now) {
                    guard let request = state.open[number] else { continue }
                    state.outbox?.yield(HelperMessage(.request, number, request.body).encoded)
                }
            }
        }

        func received(_ message: HelperMessage) {
            let parts = state.withLock { state in
                state.requests.progressed(at: MediaClock.now)
                return state.open[message.number]?.parts
            }
            switch message.kind {
            case .part: parts?.yield(message.body)
            case .finished: finish(message.number)
            case .failed:
                let reason = String(decoding: message.body.prefix(200), as: UTF8.self)
                finish(message.number, throwing: ProviderError(.invalidResponse, "The helper process failed: \(reason)"))
            case .ready, .request, .cancel: break
            }
        }

        /// - Returns: failed starts so far.
        func processEnded(_ reason: String) -> Int {
            let (failed, failedStarts, isUnavailable) = state.withLock { state in
                let failed = state.requests.ended().compactMap { state.open.removeValue(forKey: $0)?.parts }
                state.outbox?.finish()
                state.outbox = nil
                state.processID = nil
                return (failed, state.requests.failedStarts, state.requests.isUnavailable)
            }
            for parts in failed { parts.finish(throwing: ProviderError(isUnavailable ? .unavailable : .disconnected, reason)) }
            return failedStarts
        }

        func end() {
            let open = state.withLock { state in
                defer { state.open = [:] }
                return state.open.values.map(\.parts)
            }
            for parts in open { parts.finish(throwing: ProviderError(.disconnected, "The helper process was ended.")) }
        }
    }
}
