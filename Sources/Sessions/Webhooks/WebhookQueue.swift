/// One event on its way to one endpoint.
package struct WebhookJob: Sendable, Hashable {
    package var id: Int64
    package var url: String
    /// `WebhookEvent.lane`.
    package var lane: String
    package var body: [UInt8]
    package var createdAt: WallTime
    /// Made before this one.
    package var attempts: Int

    package init(id: Int64, url: String, lane: String, body: [UInt8], createdAt: WallTime, attempts: Int) {
        self.id = id
        self.url = url
        self.lane = lane
        self.body = body
        self.createdAt = createdAt
        self.attempts = attempts
    }
}

/// Where events wait: rows of the store, by way of what may be done with them.
package struct WebhookQueue: Sendable {
    /// The oldest events for an endpoint that are due, at most `limit`, and of each lane only its oldest that is not done. They are leased for
    /// longer than a request may take; an event whose lease has run out is due again.
    package var lease: @Sendable (_ url: String, _ limit: Int, _ now: WallTime) async throws -> [WebhookJob]
    package var finish: @Sendable (_ id: Int64) async throws -> Void
    /// One attempt more was made in vain; `reason` is for the operator.
    package var retry: @Sendable (_ id: Int64, _ at: WallTime, _ reason: String) async throws -> Void
    package var giveUp: @Sendable (_ id: Int64, _ reason: String) async throws -> Void

    package init(
        lease: @escaping @Sendable (_ url: String, _ limit: Int, _ now: WallTime) async throws -> [WebhookJob],
        finish: @escaping @Sendable (_ id: Int64) async throws -> Void,
        retry: @escaping @Sendable (_ id: Int64, _ at: WallTime, _ reason: String) async throws -> Void,
        giveUp: @escaping @Sendable (_ id: Int64, _ reason: String) async throws -> Void
    ) {
        self.lease = lease
        self.finish = finish
        self.retry = retry
        self.giveUp = giveUp
    }
}
