package import Identity
package import OutgoingHTTP
internal import Synchronization
package import Wire

/// Delivers stored webhooks to their endpoints, at least once and in order within each lane.
///
/// A webhook leaves the queue only after its endpoint has acknowledged it; otherwise its lease expires and it is sent again with the same
/// id. A failure blocks only its lane, and its endpoint while that is dead.
package final class WebhookDelivery<C: Clock<Duration>>: Sendable {
    private let queue: any WebhookQueue
    /// Longer than a request may take.
    private let leaseSpan: Duration
    private let backoff: Backoff
    private let key: @Sendable () -> IssuerKey
    private let send: Outgoing
    private let observe: @Sendable (WebhookAttempt) -> Void
    private let clock: C
    /// The polling interval, unless `wake` is called.
    private let pause: Duration
    private let now: @Sendable () -> WallTime
    private let random: @Sendable () -> Double
    /// In the configuration's order.
    private let endpoints: Mutex<[WebhookEndpoint]>
    /// Coalesces wake-ups: one pending signal is enough.
    private let wakeUps = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - leaseSpan: must exceed the request timeout.
    ///   - urls: all endpoints; each receives every event. Webhooks for other endpoints stay in the store.
    ///   - key: an HS256 key, evaluated for each attempt; its issuer identifies the gateway to receivers.
    ///   - random: random numbers in 0..<1 for jitter.
    ///   - observe: called after each attempt.
    package init(
        _ queue: any WebhookQueue, leaseSpan: Duration = .seconds(30), to urls: [String], backoff: Backoff = .webhooks,
        signedWith key: @autoclosure @escaping @Sendable () -> IssuerKey, clock: C, pause: Duration = .seconds(1),
        now: @escaping @Sendable () -> WallTime, random: @escaping @Sendable () -> Double, sending send: @escaping Outgoing,
        observing observe: @escaping @Sendable (WebhookAttempt) -> Void = { _ in }
    ) {
        self.queue = queue
        self.leaseSpan = leaseSpan
        endpoints = Mutex(urls.map(WebhookEndpoint.init))
        self.backoff = backoff
        self.key = key
        self.send = send
        self.observe = observe
        self.clock = clock
        self.pause = pause
        self.now = now
        self.random = random
    }

    /// Call when webhooks were enqueued.
    package func wake() { wakeUps.continuation.yield() }

    /// Runs until the task is cancelled. Call once.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                while (try? await self.clock.sleep(for: self.pause)) != nil { self.wake() }
            }
            wake()
            for await _ in wakeUps.stream {
                for (webhook, index) in await due() { group.addTask { await self.deliver(webhook, at: index) } }
            }
            group.cancelAll()
        }
    }

    /// Leases what may be sent now, with the endpoint's index. If the store cannot be read, the next poll retries.
    private func due() async -> [(StoredWebhook, at: Int)] {
        let time = now()
        let rooms = endpoints.withLock { $0.map { (url: $0.url, room: $0.room(at: time)) } }
        var due: [(StoredWebhook, at: Int)] = []
        for (index, endpoint) in rooms.enumerated() where endpoint.room > 0 {
            guard let leased = try? await queue.lease(to: endpoint.url, limit: endpoint.room, for: leaseSpan, at: time) else { continue }
            endpoints.withLock { endpoints in leased.forEach { _ in endpoints[index].begin() } }
            due += leased.map { ($0, at: index) }
        }
        return due
    }

    private func deliver(_ webhook: StoredWebhook, at index: Int) async {
        let began = clock.now
        let (answer, reason) = await attempt(webhook)
        let duration = began.duration(to: clock.now)
        let time = now()
        let next = time + backoff.delay(afterFailures: webhook.attempts, random: random())
        let expires = next >= webhook.expiresAt
        // The outcome is stored before the next lease. If that fails, the lease expires and decides.
        switch answer {
        case .delivered: _ = try? await queue.delivered(webhook, at: now())
        case .failed where !expires: try? await queue.retry(webhook, due: next, reason: reason)
        case .failed, .gone: try? await queue.giveUp(webhook, reason: reason, at: now())
        }
        let outcome: WebhookAttempt.Outcome =
            switch answer {
            case .delivered: .delivered
            case .failed where !expires: .retried(after: .milliseconds(next.milliseconds - time.milliseconds))
            case .failed, .gone: .dead
            }
        observe(WebhookAttempt(webhook: webhook, outcome: outcome, reason: reason, duration: duration))
        endpoints.withLock { endpoints in
            switch answer {
            case .delivered, .gone: endpoints[index].answered()
            // After an expired webhook the next one may be tried at once.
            case .failed: endpoints[index].failed(next: expires ? now() : next)
            }
        }
        wake()
    }

    private func attempt(_ webhook: StoredWebhook) async -> (WebhookAnswer, reason: String) {
        do {
            let body = Array(webhook.webhook.body.utf8)
            var headers = [
                OutgoingHeader("content-type", "application/webhook+json"), OutgoingHeader("user-agent", "Patchbay"),
                // Without "Bearer", as LiveKit's receivers expect.
                OutgoingHeader("authorization", try BodySignature.token(for: body, at: now().milliseconds / 1_000, with: key())),
            ]
            if let request = webhook.webhook.requestID { headers.append(OutgoingHeader("x-request-id", request)) }
            if let trace = webhook.webhook.trace { headers.append(OutgoingHeader("traceparent", trace.withNewSpan.traceparent)) }
            let request = OutgoingHTTPRequest(url: webhook.webhook.endpoint, headers: headers, body: body)
            let response = try await send(request)
            return (WebhookAnswer(status: response.status), "status \(response.status)")
        } catch {
            return (.failed, "no answer: \(error)")
        }
    }
}

/// One attempt to deliver a webhook, for logs and metrics.
package struct WebhookAttempt: Sendable {
    package enum Outcome: Sendable, Hashable {
        case delivered
        case retried(after: Duration)
        /// Declined by the endpoint, or not delivered within `StoreLimits.webhookLifetime`.
        case dead
    }

    package let webhook: StoredWebhook
    package let outcome: Outcome
    /// For operators: a status, or why there was no response. Reveals nothing of the URL but its host.
    package let reason: String
    /// From sending the request to the complete response.
    package let duration: Duration
}

extension Backoff {
    /// 1, 2, 4, … seconds, at most 10 minutes.
    package static let webhooks = Backoff(.exponential, unit: .seconds(1), delayMax: .seconds(600), jitter: .upperHalf)
}

/// The operations of the repository `Webhooks` that a delivery uses.
package protocol WebhookQueue: Sendable {
    func lease(to endpoint: String, limit: Int, for span: Duration, at now: WallTime) async throws(StoreError) -> [StoredWebhook]
    @discardableResult
    func delivered(_ webhook: StoredWebhook, at now: WallTime) async throws(StoreError) -> Bool
    func retry(_ webhook: StoredWebhook, due: WallTime, reason: String) async throws(StoreError)
    func giveUp(_ webhook: StoredWebhook, reason: String, at now: WallTime) async throws(StoreError)
}

extension Webhooks: WebhookQueue {}

/// The meaning of an endpoint's response.
///
/// LiveKit counts every status but 429 and 5xx as delivered. Here only 2xx counts, because a misconfigured endpoint answers 404 or 401 for
/// a while, and its events would be lost.
enum WebhookAnswer {
    case delivered
    case failed
    /// 410: the endpoint declines the event.
    case gone

    init(status: Int) {
        switch status {
        case 200...299: self = .delivered
        case 410: self = .gone
        default: self = .failed
        }
    }
}

/// Concurrency control and circuit breaker of one endpoint: a dead endpoint gets one request at a time, at growing intervals.
struct WebhookEndpoint {
    /// Concurrent requests.
    static let inFlightMax = 8
    /// Consecutive failures after which an endpoint is dead until it answers.
    static let failuresMax = 3

    let url: String
    private var inFlight = 0
    private var failures = 0
    private var closedUntil: WallTime?

    init(url: String) { self.url = url }

    private var isDead: Bool { failures >= Self.failuresMax }

    func room(at now: WallTime) -> Int {
        if let closedUntil, now < closedUntil { return 0 }
        return max(0, (isDead ? 1 : Self.inFlightMax) - inFlight)
    }

    mutating func begin() { inFlight += 1 }

    mutating func answered() {
        inFlight -= 1
        failures = 0
        closedUntil = nil
    }

    /// - Parameter next: the time of the failed webhook's next attempt.
    mutating func failed(next: WallTime) {
        inFlight -= 1
        failures += 1
        if isDead { closedUntil = next }
    }
}
