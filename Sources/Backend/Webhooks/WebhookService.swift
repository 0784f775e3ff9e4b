package import HTTPServer
package import Identity
package import OutgoingHTTP
internal import ServiceLifecycle
package import Store
internal import Wire

/// Delivers webhooks from the store to their endpoints. Undelivered webhooks stay in the store and are sent by the next process.
package struct WebhookService: Service {
    /// How often the number of waiting webhooks is counted.
    private static let countInterval = Duration.seconds(5)

    private let delivery: WebhookDelivery<ContinuousClock>
    private let store: Webhooks
    private let counters: ServiceCounters
    private let now: @Sendable () -> WallTime

    /// - Parameters:
    ///   - send: sends one request; trusts the authorities in `settings`.
    ///   - keys: the keys in use, which a reload replaces; nil: webhooks are always signed with the key in `settings`.
    ///   - leaseSpan: must exceed the request timeout. A crashed process's webhooks are retried after this time.
    ///   - counters: counts deliveries, failures and what waits.
    ///   - operatorLog: the operator's log of failures.
    package init(
        _ settings: WebhookSettings, keys: KeysInUse? = nil, store: Webhooks, leaseSpan: Duration = .seconds(30),
        sending send: @escaping Outgoing,
        now: @escaping @Sendable () -> WallTime = { WallTime(milliseconds: WallClock.milliseconds) },
        counters: ServiceCounters = ServiceCounters(), operatorLog: OperatorLog = .silent
    ) {
        self.store = store
        self.counters = counters
        self.now = now
        delivery = WebhookDelivery(
            store, leaseSpan: leaseSpan, to: settings.urls,
            signedWith: keys.map { settings.key(in: $0.current) } ?? settings.key, clock: ContinuousClock(), now: now,
            random: { Double.random(in: 0..<1) }, sending: send,
            observing: { attempt in
                counters.count(attempt)
                operatorLog.attempted(attempt)
            })
    }

    /// Call after writing webhooks to the store.
    package func wake() { delivery.wake() }

    /// Runs until the task is cancelled or graceful shutdown begins. Call once.
    package func run() async {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    repeat { await countWaiting() } while (try? await Task.sleep(for: Self.countInterval)) != nil
                }
                await delivery.run()
                group.cancelAll()
            }
        }
    }

    private func countWaiting() async {
        guard let (count, oldest) = try? await store.waiting() else { return }
        counters.set(count, to: .webhooksWaiting)
        counters.set(oldest.map { Int(max(0, now().milliseconds - $0.milliseconds) / 1_000) } ?? 0, to: .webhooksOldestAge)
    }
}

/// Webhook endpoints and the key that signs webhooks.
package struct WebhookSettings: Sendable {
    /// Endpoints that receive all webhooks.
    package static let urlsMax = 16

    package var urls: [String]
    /// The HS256 key at the start. Its issuer identifies the gateway to receivers.
    package var key: IssuerKey
    /// The configured issuer of the key; nil for that of the first key with a secret.
    package var issuer: String?
    /// The path of a PEM file with certificates that are trusted besides the system's.
    package var authority: String?

    package init(urls: [String], key: IssuerKey, issuer: String? = nil, authority: String? = nil) {
        self.urls = urls
        self.key = key
        self.issuer = issuer
        self.authority = authority
    }

    /// The key that signs webhooks after the keys have been reloaded.
    package func key(in keys: KeyRing) -> IssuerKey {
        (issuer.map(keys.key(of:)) ?? keys.signer) ?? key
    }
}
