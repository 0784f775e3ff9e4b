internal import ServiceLifecycle
package import Store
internal import Wire

/// Sends webhooks from the store to their endpoints for as long as its task runs. What it is given is in the store first; what has not
/// arrived when it ends is sent by the next one.
package struct WebhookService: Service {
    private let delivery: WebhookDelivery<ContinuousClock>

    /// - Parameters:
    ///   - client: with the trust of `settings`; others may use it too.
    ///   - leaseSpan: how long a webhook is this process's: longer than a request may take. One that was killed left its own behind for as long.
    package init(
        _ settings: WebhookSettings, store: SessionStore, client: OutgoingClient, leaseSpan: Duration = .seconds(30),
        now: @escaping @Sendable () -> WallTime = { WallTime(milliseconds: WallClock.milliseconds) }
    ) {
        delivery = WebhookDelivery(
            WebhookQueue(store, leaseSpan: leaseSpan), to: settings.urls, signedWith: settings.key, clock: ContinuousClock(), now: now,
            chance: { Double.random(in: 0..<1) }, sending: client.outgoing())
    }

    /// Something was written to the store.
    package func wake() { delivery.wake() }

    /// Until the task is cancelled or the program is to end; once.
    package func run() async { await cancelWhenGracefulShutdown { await delivery.run() } }
}
