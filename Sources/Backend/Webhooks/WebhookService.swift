package import Identity
internal import ServiceLifecycle
package import Sockets
package import Store
internal import Wire

/// Delivers webhooks from the store to their endpoints. Undelivered webhooks stay in the store and are sent by the next process.
package struct WebhookService: Service {
    private let delivery: WebhookDelivery<ContinuousClock>

    /// - Parameters:
    ///   - send: sends one request; trusts the authorities in `settings`.
    ///   - leaseSpan: must exceed the request timeout. A crashed process's webhooks are retried after this time.
    package init(
        _ settings: WebhookSettings, store: SessionStore, leaseSpan: Duration = .seconds(30), sending send: @escaping Outgoing,
        now: @escaping @Sendable () -> WallTime = { WallTime(milliseconds: WallClock.milliseconds) }
    ) {
        delivery = WebhookDelivery(
            WebhookQueue(store, leaseSpan: leaseSpan), to: settings.urls, signedWith: settings.key, clock: ContinuousClock(), now: now,
            random: { Double.random(in: 0..<1) }, sending: send)
    }

    /// Call after writing webhooks to the store.
    package func wake() { delivery.wake() }

    /// Runs until the task is cancelled or graceful shutdown begins. Call once.
    package func run() async { await cancelWhenGracefulShutdown { await delivery.run() } }
}

/// Webhook endpoints and the key that signs webhooks.
package struct WebhookSettings: Sendable {
    /// Endpoints that receive all webhooks.
    package static let urlsMax = 16

    package var urls: [String]
    /// An HS256 key. Its issuer identifies the gateway to receivers.
    package var key: IssuerKey
    package var trust: ClientTrust

    package init(urls: [String], key: IssuerKey, trust: ClientTrust = .system) {
        self.urls = urls
        self.key = key
        self.trust = trust
    }
}
