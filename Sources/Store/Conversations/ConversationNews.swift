internal import GRDB

/// An event that was just added to a conversation, with the members to notify.
package struct ConversationNews: Sendable, Hashable {
    package var conversation: ConversationID
    package var event: ConversationEvent
    /// The members that have joined, after the event. The event's own user may have left, or only be invited.
    package var joined: [UserID]

    package init(conversation: ConversationID, event: ConversationEvent, joined: [UserID]) {
        self.conversation = conversation
        self.event = event
        self.joined = joined
    }
}

/// The recipients of conversation events: webhooks and connected users.
package struct ConversationOutlet: Sendable {
    /// Returns the webhooks to store with the event in one transaction. Called again if the transaction is repeated.
    package var webhooks: @Sendable (ConversationNews) -> [OutgoingWebhook]
    /// Called once the event is stored.
    package var tell: @Sendable (ConversationNews) -> Void

    package init(
        webhooks: @escaping @Sendable (ConversationNews) -> [OutgoingWebhook] = { _ in [] },
        tell: @escaping @Sendable (ConversationNews) -> Void = { _ in }
    ) {
        self.webhooks = webhooks
        self.tell = tell
    }

    package static let none = ConversationOutlet()
}

/// A user starts or stops talking in a call to all members of a conversation.
package struct ConversationAudioChange: Sendable, Hashable {
    package var conversation: ConversationID
    package var user: UserID
    package var isTalking: Bool

    package init(conversation: ConversationID, user: UserID, isTalking: Bool) {
        self.conversation = conversation
        self.user = user
        self.isTalking = isTalking
    }
}

extension SessionStore {
    /// Changes a conversation and notifies `outlet` afterwards.
    func changing<Result: Sendable>(
        _ outlet: ConversationOutlet, _ body: @escaping @Sendable (Transaction) throws -> (Result, ConversationNews?)
    ) async throws(StoreError) -> Result {
        let (result, news) = try await writing { db in try body(db) }
        if let news { outlet.tell(news) }
        return result
    }

    /// Enqueues the webhooks of an event and returns the news.
    static func news(
        _ event: ConversationEvent, of id: ConversationID, _ outlet: ConversationOutlet, in db: Transaction, at now: WallTime
    ) throws -> ConversationNews {
        let joined = try db.rows(
            "SELECT user_id FROM conversation_members WHERE conversation_id = ? AND state = ? ORDER BY position", id,
            ConversationMember.State.joined
        ).map { try $0["user_id"] as UserID }
        let news = ConversationNews(conversation: id, event: event, joined: joined)
        try enqueue(outlet.webhooks(news), in: db, at: now)
        return news
    }

    /// Adds changes of a call to the history of its conversation, except those of users who are no longer members.
    static func append(
        _ changes: [ConversationAudioChange], telling outlet: ConversationOutlet, in db: Transaction, at now: WallTime
    ) throws -> [ConversationNews] {
        try changes.compactMap { change in
            let id = change.conversation
            guard try state(of: change.user, in: id, db) == .joined else { return nil }
            let kind: ConversationEvent.Kind = change.isTalking ? .audioStarted : .audioEnded
            let number = try append(kind, of: change.user, to: id, in: db, at: now)
            return try news(ConversationEvent(number: number, kind: kind, user: change.user, at: now), of: id, outlet, in: db, at: now)
        }
    }
}
