internal import Dispatch
internal import Synchronization
internal import Wire

/// A broker on NATS: core messages, and a key-value bucket of JetStream.
///
/// Connects again for ever, with growing random delays. A connection that is lost ends pending requests at once, and messages that are
/// published meanwhile are dropped. One queue connects and sends, so that a server that stops reading blocks no caller; another one ends
/// requests whose time is up; the library's threads receive.
package final class NATSBroker: Broker {
    private struct Events {
        /// The connection that has been reported.
        var connected: UInt64?
        /// Nil once the broker is closed.
        var handler: (@Sendable (BrokerEvent) -> Void)?
    }

    /// Numbers of the process's connections.
    private static let connections = Atomic<UInt64>(0)
    private static let reconnecting = Backoff(
        .exponential, unit: .milliseconds(100), delayMax: .seconds(2), jitter: .upperHalf)
    private static let bucketRetryDelay = Duration.seconds(1)

    let settings: NATSSettings
    /// Subjects below it are this broker's alone.
    private let inbox: String
    /// Connects and sends.
    private let queue = DispatchQueue(label: "nats")
    let exchange: NATSExchange
    /// Locked while the handler runs, so that it gets one event at a time.
    private let events: Mutex<Events>
    private let onFailure: @Sendable (NATSError) -> Void

    /// Connects, and makes the bucket if it is missing. `connected` is reported before it returns.
    ///
    /// - Parameters:
    ///   - onFailure: gets the reason of each failed attempt to connect again, or to make the bucket again.
    ///   - onEvent: gets what happens, in order, one event at a time. It must not block for long.
    /// - Throws: `NATSError` if that fails; nothing is tried again then.
    package static func start(
        _ settings: NATSSettings, onFailure: @escaping @Sendable (NATSError) -> Void = { _ in },
        onEvent: @escaping @Sendable (BrokerEvent) -> Void
    ) async throws(NATSError) -> NATSBroker {
        try settings.check()
        let broker = NATSBroker(settings, onFailure, onEvent)
        let result: Result<Void, NATSError> = await withCheckedContinuation { continuation in
            broker.queue.async { broker.start { continuation.resume(returning: $0) } }
        }
        switch result {
        case .success: return broker
        case .failure(let error):
            await broker.close()
            throw error
        }
    }

    private init(
        _ settings: NATSSettings, _ onFailure: @escaping @Sendable (NATSError) -> Void, _ onEvent: @escaping @Sendable (BrokerEvent) -> Void
    ) {
        self.settings = settings
        exchange = NATSExchange(timeout: settings.requestTimeout, queue: queue)
        inbox = "_INBOX.pb" + String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
        events = Mutex(Events(handler: onEvent))
        self.onFailure = onFailure
    }

    /// Ends pending requests as `unavailable`, reports nothing more, and disconnects without sending what waits.
    ///
    /// Must not be awaited by the handler of events or by a completion. Returns when the connection is closed, possibly after an attempt to
    /// connect. No handler or completion is called afterwards.
    package func close() async {
        let connection = await exchange.close()
        events.withLock { $0.handler = nil }
        await withCheckedContinuation { continuation in
            queue.async {
                connection?.close()
                continuation.resume()
            }
        }
    }

    package func publish(_ message: [UInt8], to subject: String) {
        guard NATSSettings.isSubject(subject, mayHaveWildcards: false) else { return }
        exchange.publish(message, to: subject)
    }
}

// MARK: Connecting

extension NATSBroker {
    /// On the queue.
    private func start(_ completion: @escaping @Sendable (Result<Void, NATSError>) -> Void) {
        do throws(NATSError) {
            let number = try connect()
            ensureBucket { [self] problem in
                queue.async {
                    if let problem { return completion(.failure(problem)) }
                    self.becomeReady(number)
                    completion(.success(()))
                }
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// On the queue.
    private func reconnect(afterFailures failures: Int) {
        guard !exchange.isClosed, !exchange.isConnected else { return }
        do throws(NATSError) {
            let number = try connect()
            // Messages do not need the bucket: the connection is used even if the bucket cannot be made now.
            ensureBucket { [self] problem in
                queue.async {
                    self.becomeReady(number)
                    if let problem { self.bucketFailed(problem, number) }
                }
            }
        } catch {
            guard !exchange.isClosed else { return }
            onFailure(error)
            let delay = Self.reconnecting.delay(afterFailures: failures + 1, random: .random(in: 0...1))
            queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay.inNanoseconds))) { [weak self] in
                self?.reconnect(afterFailures: failures + 1)
            }
        }
    }

    /// Opens a connection to any of the servers. On the queue.
    ///
    /// - Returns: its number.
    private func connect() throws(NATSError) -> UInt64 {
        var problem = NATSError.unreachable("no server")
        for server in settings.servers.shuffled() where !exchange.isClosed {
            let number = Self.connections.add(1, ordering: .relaxed).newValue
            do throws(NATSError) {
                let connection = try NATSConnection.open(
                    settings, server: server, number: number, inbox: inbox, handlers: handlers(of: number))
                guard exchange.use(connection) else { throw .unreachable("the broker is closed") }
                // It may have been closed before it was known.
                if connection.isClosed { lost(number) }
                return number
            } catch {
                problem = error
            }
        }
        throw problem
    }

    private func handlers(of number: UInt64) -> NATSConnection.Handlers {
        NATSConnection.Handlers(
            received: { [weak self] message, subject in
                self?.events.withLock { events in
                    if events.connected == number { events.handler?(.received(message, subject: subject)) }
                }
            },
            answered: { [weak self] request, answer in
                self?.exchange.end(request, answer.map { .success($0) } ?? .failure(.noResponders))
            },
            closed: { [weak self] in self?.lost(number) })
    }

    /// On the queue.
    private func becomeReady(_ number: UInt64) {
        guard exchange.open(number) else { return }
        events.withLock { events in
            events.connected = number
            events.handler?(.connected)
        }
    }

    /// On any thread.
    private func lost(_ number: UInt64) {
        guard let connection = exchange.drop(number) else { return }
        queue.async { [self] in
            connection.close()
            events.withLock { events in
                guard events.connected == number else { return }
                events.connected = nil
                events.handler?(.disconnected)
            }
            // Nodes that lost the same server do not come back in the same moment.
            let delay = Self.reconnecting.unit * Double.random(in: 0...1)
            queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay.inNanoseconds))) { [weak self] in
                self?.reconnect(afterFailures: 0)
            }
        }
    }

    // MARK: The bucket

    /// Makes the bucket if it is missing. One with other settings is used as it is.
    private func ensureBucket(_ completion: @escaping @Sendable (NATSError?) -> Void) {
        exchange.request("$JS.API.STREAM.INFO.\(settings.stream)", [], evenIfNotReady: true) { [self] answer in
            switch NATSReply.bucket(answer) {
            case .exists: completion(nil)
            case .failed(let problem): completion(problem)
            case .isMissing:
                exchange.request("$JS.API.STREAM.CREATE.\(settings.stream)", NATSReply.createRequest(settings), evenIfNotReady: true) {
                    answer in
                    switch NATSReply.bucket(answer) {
                    case .exists: completion(nil)
                    case .failed(let problem): completion(problem)
                    case .isMissing: completion(.bucket("the server does not find what it has made"))
                    }
                }
            }
        }
    }

    /// Tries again until the bucket exists or the connection is lost. On the queue.
    private func bucketFailed(_ problem: NATSError, _ number: UInt64) {
        guard exchange.isCurrent(number) else { return }
        onFailure(problem)
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(Self.bucketRetryDelay.inNanoseconds))) { [weak self] in
            guard let self, exchange.isCurrent(number) else { return }
            ensureBucket { [self] problem in
                guard let problem else { return }
                queue.async { self.bucketFailed(problem, number) }
            }
        }
    }
}
