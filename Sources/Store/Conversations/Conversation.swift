/// A persistent conversation of users, with members and a history of events.
package struct Conversation: Sendable, Hashable {
    package let id: ConversationID
    /// Empty if its creator gave none.
    package var name: String
    package var createdAt: WallTime
    /// The number of its last event.
    package var lastEvent: Int64
    /// Including those who are only invited.
    package var memberCount: Int
    /// The membership of the user who requested it.
    package var state: ConversationMember.State
    /// The user who invited it; nil once it has joined, or if the inviter has been deleted.
    package var inviter: UserID?
}

package typealias ConversationID = RecordID<Conversation>

/// A user in a conversation. Leaving ends the membership.
package struct ConversationMember: Sendable, Hashable {
    package enum State: String, Sendable, Codable, CaseIterable, SQLValue {
        case invited, joined
    }

    package var user: UserID
    package var state: State
    /// The time of its invitation or, for the creator, of the creation.
    package var since: WallTime
}

/// An event of a conversation. Deleted with the user that it is about, and after that user's retention.
package struct ConversationEvent: Sendable, Hashable {
    package enum Kind: String, Sendable, Codable, CaseIterable, SQLValue {
        case invited = "member:invited"
        case joined = "member:joined"
        case left = "member:left"
        case text
        /// The user started or stopped talking in a call to all members of the conversation.
        case audioStarted = "audio:started"
        case audioEnded = "audio:ended"
    }

    /// Ascending in a conversation, from 1. Numbers of deleted events are missing.
    package var number: Int64
    package var kind: Kind
    /// The user who was invited, joined, left, wrote, or started or stopped talking.
    package var user: UserID
    package var at: WallTime
    /// Nil unless `kind` is `text`.
    package var text: String?

    package init(number: Int64, kind: Kind, user: UserID, at: WallTime, text: String? = nil) {
        self.number = number
        self.kind = kind
        self.user = user
        self.at = at
        self.text = text
    }
}

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
