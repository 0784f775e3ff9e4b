/// A unit of work that is done at least once, across restarts.
package struct Job: Sendable, Hashable {
    package let id: Int64
    package let kind: JobKind
    /// An identifier, never user text.
    package let subject: String
    package let userID: UserID?
    package let sessionID: SessionID?
    /// Attempts, including this one; identifies the lease.
    package let attempts: Int
}

package struct JobKind: Sendable, Hashable, RawRepresentable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Summarize the session that is the subject.
    package static let summary = JobKind(rawValue: "summary")
}

/// A webhook to send to one endpoint.
package struct OutgoingWebhook: Sendable, Hashable {
    /// The event's id: the same for all endpoints and attempts.
    package var id: WebhookID
    /// The event's name, such as `room_started`. Never user text.
    package var event: String
    /// The URL.
    package var endpoint: String
    /// The room: each endpoint receives a room's webhooks in order.
    package var room: String
    /// The exact request body.
    package var body: String
    /// Deleted with this user or session.
    package var userID: UserID?
    package var sessionID: SessionID?
    /// The HTTP request that caused the event; nil if none did.
    package var requestID: String?
    /// How long it may be delivered; nil for `StoreLimits.webhookLifetime`. A webhook with a lifetime of its own contains a secret: it is
    /// deleted when it is delivered or expires, and cannot be replayed.
    package var lifetime: Duration?

    package init(
        id: WebhookID = WebhookID(), event: String, endpoint: String, room: String, body: String, userID: UserID? = nil,
        sessionID: SessionID? = nil, requestID: String? = nil, lifetime: Duration? = nil
    ) {
        self.id = id
        self.event = event
        self.endpoint = endpoint
        self.room = room
        self.body = body
        self.userID = userID
        self.sessionID = sessionID
        self.requestID = requestID
        self.lifetime = lifetime
    }
}

package typealias WebhookID = RecordID<OutgoingWebhook>

/// A stored webhook and its delivery state.
package struct StoredWebhook: Sendable, Hashable {
    package enum Status: String, Sendable, CaseIterable {
        case waiting, delivered
        /// Not delivered within a day.
        case dead
    }

    /// Ascending in the order of enqueueing.
    package let number: Int64
    package let webhook: OutgoingWebhook
    package let enqueuedAt: WallTime
    /// When retries end: a day after it was enqueued or replayed.
    package let expiresAt: WallTime
    package let status: Status
    /// Attempts, including this one; identifies the lease.
    package let attempts: Int
    /// Why the last attempt failed.
    package let reason: String?

    package init(
        number: Int64, webhook: OutgoingWebhook, enqueuedAt: WallTime, expiresAt: WallTime, status: Status = .waiting, attempts: Int,
        reason: String? = nil
    ) {
        self.number = number
        self.webhook = webhook
        self.enqueuedAt = enqueuedAt
        self.expiresAt = expiresAt
        self.status = status
        self.attempts = attempts
        self.reason = reason
    }
}
