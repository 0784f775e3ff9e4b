/// Where webhooks wait, by way of what may be done with them.
package struct WebhookQueue: Sendable {
    /// The oldest webhooks for an endpoint that are due, at most `limit`, and of each lane only its oldest that is not done. They are leased for
    /// longer than a request may take; a webhook whose lease has run out is due again.
    package var lease: @Sendable (_ endpoint: String, _ limit: Int, _ now: WallTime) async throws -> [StoredWebhook]
    package var finish: @Sendable (_ webhook: StoredWebhook, _ now: WallTime) async throws -> Void
    /// It was sent in vain; `reason` is for the operator.
    package var retry: @Sendable (_ webhook: StoredWebhook, _ due: WallTime, _ reason: String) async throws -> Void
    package var giveUp: @Sendable (_ webhook: StoredWebhook, _ reason: String, _ now: WallTime) async throws -> Void

    package init(
        lease: @escaping @Sendable (_ endpoint: String, _ limit: Int, _ now: WallTime) async throws -> [StoredWebhook],
        finish: @escaping @Sendable (_ webhook: StoredWebhook, _ now: WallTime) async throws -> Void,
        retry: @escaping @Sendable (_ webhook: StoredWebhook, _ due: WallTime, _ reason: String) async throws -> Void,
        giveUp: @escaping @Sendable (_ webhook: StoredWebhook, _ reason: String, _ now: WallTime) async throws -> Void
    ) {
        self.lease = lease
        self.finish = finish
        self.retry = retry
        self.giveUp = giveUp
    }

    /// The store's.
    ///
    /// - Parameter leaseSpan: longer than a request may take.
    package init(_ store: SessionStore, leaseSpan: Duration = .seconds(30)) {
        self.init(
            lease: { try await store.leaseWebhooks(to: $0, limit: $1, for: leaseSpan, at: $2) },
            finish: { try await store.delivered($0, at: $1) },
            retry: { try await store.retry($0, due: $1, reason: $2) },
            giveUp: { try await store.giveUp($0, reason: $1, at: $2) })
    }
}
