package import Identity
internal import Synchronization

/// Carries events from the store to their endpoints, at least once and in each lane's order.
///
/// An event is taken out of the store only once its endpoint has said so; whatever goes wrong between, its lease runs out and it is sent
/// again, with the same id. What fails holds up its own lane, and its endpoint when that is dead, but no other one.
package final class WebhookDelivery<C: Clock<Duration>>: Sendable {
    private let queue: WebhookQueue
    private let plan: WebhookRetryPlan
    private let key: IssuerKey
    private let send: Outgoing
    private let clock: C
    /// How long nobody looks at the queue unless `wake` is called.
    private let pause: Duration
    private let now: @Sendable () -> WallTime
    private let chance: @Sendable () -> Double
    /// In the configuration's order.
    private let endpoints: Mutex<[WebhookEndpoint]>
    /// Holds one "look again": more would say no more.
    private let looks = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - urls: all endpoints, each of which is told everything. Events for others stay in the store.
    ///   - key: an HS256 one; its issuer is what receivers know the gateway by.
    ///   - chance: 0..<1, for the delays.
    package init(
        _ queue: WebhookQueue, to urls: [String], plan: WebhookRetryPlan = WebhookRetryPlan(), signedWith key: IssuerKey, clock: C,
        pause: Duration = .seconds(1), now: @escaping @Sendable () -> WallTime, chance: @escaping @Sendable () -> Double,
        sending send: @escaping Outgoing
    ) {
        self.queue = queue
        endpoints = Mutex(urls.map(WebhookEndpoint.init))
        self.plan = plan
        self.key = key
        self.send = send
        self.clock = clock
        self.pause = pause
        self.now = now
        self.chance = chance
    }

    /// Something was put into the queue.
    package func wake() {
        looks.continuation.yield()
    }

    /// Until the task is cancelled; once.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                while (try? await self.clock.sleep(for: self.pause)) != nil { self.wake() }
            }
            wake()
            for await _ in looks.stream {
                for (webhook, place) in await due() { group.addTask { await self.deliver(webhook, at: place) } }
            }
            group.cancelAll()
        }
    }

    /// What may be sent at once, with its endpoint's place. A store that cannot be read now is asked again after the pause.
    private func due() async -> [(StoredWebhook, at: Int)] {
        let time = now()
        let rooms = endpoints.withLock { $0.map { (url: $0.url, room: $0.room(at: time)) } }
        var due: [(StoredWebhook, at: Int)] = []
        for (place, endpoint) in rooms.enumerated() where endpoint.room > 0 {
            guard let leased = try? await queue.lease(endpoint.url, endpoint.room, time) else { continue }
            endpoints.withLock { endpoints in leased.forEach { _ in endpoints[place].begin() } }
            due += leased.map { ($0, at: place) }
        }
        return due
    }

    private func deliver(_ webhook: StoredWebhook, at place: Int) async {
        let (answer, reason) = await attempt(webhook)
        let step = plan.step(afterAttempts: webhook.attempts, expiresAt: webhook.expiresAt, now: now(), chance: chance())
        // Before anything is leased anew, the store knows what became of this one. If it cannot be told, the lease tells.
        switch (answer, step) {
        case (.delivered, _): try? await queue.finish(webhook, now())
        case (.gone, _), (.failed, .givenUp): try? await queue.giveUp(webhook, reason, now())
        case (.failed, .again(let next)): try? await queue.retry(webhook, next, reason)
        }
        endpoints.withLock { endpoints in
            switch (answer, step) {
            case (.delivered, _), (.gone, _): endpoints[place].answered()
            case (.failed, .again(let next)): endpoints[place].failed(next: next)
            // The next one in the queue is as old, or answers.
            case (.failed, .givenUp): endpoints[place].failed(next: now())
            }
        }
        wake()
    }

    private func attempt(_ webhook: StoredWebhook) async -> (WebhookAnswer, reason: String) {
        do {
            let body = Array(webhook.webhook.body.utf8)
            let request = OutgoingRequest(
                url: webhook.webhook.endpoint,
                headers: [
                    OutgoingHeader("content-type", "application/webhook+json"), OutgoingHeader("user-agent", "Patchbay"),
                    // As it is, without "Bearer": LiveKit's receivers know no other.
                    OutgoingHeader("authorization", try BodySignature.token(for: body, at: now().milliseconds / 1_000, with: key)),
                ],
                body: body)
            let response = try await send(request)
            return (WebhookAnswer(status: response.status), "status \(response.status)")
        } catch {
            return (.failed, "no answer: \(error)")
        }
    }
}
