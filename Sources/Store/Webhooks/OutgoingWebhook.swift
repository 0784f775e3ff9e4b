package import Wire

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
    package var trace: TraceContext?
    /// How long it may be delivered; nil for `StoreLimits.webhookLifetime`. A webhook with a lifetime of its own contains a secret: it is
    /// deleted when it is delivered or expires, and cannot be replayed.
    package var lifetime: Duration?

    package init(
        id: WebhookID = WebhookID(), event: String, endpoint: String, room: String, body: String, userID: UserID? = nil,
        sessionID: SessionID? = nil, requestID: String? = nil, trace: TraceContext? = nil, lifetime: Duration? = nil
    ) {
        self.id = id
        self.event = event
        self.endpoint = endpoint
        self.room = room
        self.body = body
        self.userID = userID
        self.sessionID = sessionID
        self.requestID = requestID
        self.trace = trace
        self.lifetime = lifetime
    }
}

package typealias WebhookID = RecordID<OutgoingWebhook>

/// A stored webhook and its delivery state.
package struct StoredWebhook: Sendable, Hashable {
    package enum Status: String, Sendable, CaseIterable, SQLValue {
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
    package var status = Status.waiting
    /// Attempts, including this one; identifies the lease.
    package let attempts: Int
    /// Why the last attempt failed.
    package var reason: String?
}

/// A room or call whose start was announced by webhook and whose end was not. It survives a crash, so that the next process can
/// announce the end.
package struct OpenAnnouncement: Sendable, Hashable {
    /// Unique among everything that was ever announced.
    package var key: String
    /// The data of the webhook that will announce the end. Encrypted in the store.
    package var content: String
    /// Deleting the user or the session deletes the announcement with its webhooks.
    package var userID: UserID?
    package var sessionID: SessionID?
    /// The node of a cluster at which it is open; nil without a cluster.
    package var node: String?

    package init(key: String, content: String, userID: UserID? = nil, sessionID: SessionID? = nil, node: String? = nil) {
        self.key = key
        self.content = content
        self.userID = userID
        self.sessionID = sessionID
        self.node = node
    }
}

/// The webhooks of one event, the open announcement that it adds or removes, and the call that it ends for a user: stored in one
/// transaction.
package struct Announcement: Sendable {
    package enum Effect: Sendable {
        case none
        /// Replaces an open announcement of the same key.
        case opens(OpenAnnouncement)
        case closes(key: String)
        /// For what a crash left open: nothing of the announcement is written unless this is still open at the same node.
        case recovers(OpenAnnouncement)
    }

    package var webhooks: [OutgoingWebhook]
    package var effect: Effect
    /// For the history of this user.
    package var call: (user: UserID, entry: CallLogEntry)?
    /// Changes for the history of the conversation whose members are called.
    package var audio: [ConversationAudioChange] = []

    package init(_ webhooks: [OutgoingWebhook] = [], effect: Effect = .none) {
        self.webhooks = webhooks
        self.effect = effect
    }

    /// Whether there is nothing to write.
    package var isEmpty: Bool {
        guard case .none = effect else { return false }
        return webhooks.isEmpty && call == nil && audio.isEmpty
    }
}
