/// Something to be told to an endpoint.
package struct OutgoingWebhook: Sendable, Hashable {
    /// Of the event: the same for all endpoints, and each time it is sent.
    package var id: WebhookID
    /// Its name, as `room_started`. No word of a user.
    package var event: String
    /// Where it goes.
    package var endpoint: String
    /// What it is about; of one room each endpoint hears in order.
    package var room: String
    /// What is sent, byte for byte.
    package var body: String
    /// Whose it is: it goes when the user or the session goes.
    package var userID: UserID?
    package var sessionID: SessionID?

    package init(
        id: WebhookID = WebhookID(), event: String, endpoint: String, room: String, body: String, userID: UserID? = nil,
        sessionID: SessionID? = nil
    ) {
        self.id = id
        self.event = event
        self.endpoint = endpoint
        self.room = room
        self.body = body
        self.userID = userID
        self.sessionID = sessionID
    }
}

package typealias WebhookID = RecordID<OutgoingWebhook>

/// A webhook in the store.
package struct StoredWebhook: Sendable, Hashable {
    package enum Status: String, Sendable, CaseIterable {
        case waiting, delivered
        /// Tried for a day in vain.
        case dead
    }

    /// Rises in the order in which webhooks were told.
    package let number: Int64
    package let webhook: OutgoingWebhook
    package let toldAt: WallTime
    /// Until when it is tried: a day after it was told, or replayed.
    package let expiresAt: WallTime
    package let status: Status
    /// How often it was begun to send it, this time included. It also tells a lease from the next one.
    package let attempts: Int
    /// Why it did not arrive the last time.
    package let reason: String?

    package init(
        number: Int64, webhook: OutgoingWebhook, toldAt: WallTime, expiresAt: WallTime, status: Status = .waiting, attempts: Int,
        reason: String? = nil
    ) {
        self.number = number
        self.webhook = webhook
        self.toldAt = toldAt
        self.expiresAt = expiresAt
        self.status = status
        self.attempts = attempts
        self.reason = reason
    }
}
