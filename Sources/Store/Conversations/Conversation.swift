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
    package enum State: String, Sendable, Codable, CaseIterable {
        case invited, joined
    }

    package var user: UserID
    package var state: State
    /// The time of its invitation or, for the creator, of the creation.
    package var since: WallTime
    /// Its position in the list of members.
    let position: Int64
}

/// An event of a conversation. Deleted with the user that it is about, and after that user's retention.
package struct ConversationEvent: Sendable, Hashable {
    package enum Kind: String, Sendable, Codable, CaseIterable {
        case invited = "member:invited"
        case joined = "member:joined"
        case left = "member:left"
        case text
    }

    /// Ascending in a conversation, from 1. Numbers of deleted events are missing.
    package var number: Int64
    package var kind: Kind
    /// The user who was invited, joined, left or wrote.
    package var user: UserID
    package var at: WallTime
    /// Nil unless `kind` is `text`.
    package var text: String?
}

package struct ConversationPage: Sendable {
    /// The user's latest first.
    package var conversations: [Conversation]
    /// The cursor of the next page; nil at the end.
    package var next: TimeCursor?
}
