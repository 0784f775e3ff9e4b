internal import HTTPServer
internal import Store

struct NewConversation: Decodable, Sendable, Described {
    /// May be empty.
    var name: String

    static let nameSchema = Schema.text(0...256)
    static let schema = Schema.named("NewConversation", .object([.required("name", nameSchema)]))
}

struct ConversationInvitation: Decodable, Sendable, Described {
    var user: String

    static let schema = Schema.named(
        "ConversationInvitation", .object([.required("user", .text(3...UserAddress.bytesMax))]))
}

struct NewConversationEvent: Decodable, Sendable, Described {
    var text: String

    static let schema = Schema.named(
        "NewConversationEvent", .object([.required("text", .text(1...StoreLimits.conversationTextMax))]))
}

struct ConversationView: Encodable, Sendable, Described {
    var id: ConversationID
    var name: String
    var state: ConversationMember.State
    var createdAt: WallTime
    var memberCount: Int
    /// Only for a user that has joined.
    var lastEvent: Int64?
    /// Only for an invited user, unless the inviter has been deleted.
    var invitedBy: UserID?

    init(_ conversation: Conversation) {
        id = conversation.id
        name = conversation.name
        state = conversation.state
        createdAt = conversation.createdAt
        memberCount = conversation.memberCount
        lastEvent = conversation.state == .joined ? conversation.lastEvent : nil
        invitedBy = conversation.inviter
    }

    static let stateSchema = Schema.choice(ConversationMember.State.allCases.map(\.rawValue))
    static let schema = Schema.named(
        "Conversation",
        .object([
            .required("id", .uuid), .required("name", NewConversation.nameSchema), .required("state", stateSchema),
            .required("created_at", .time), .required("member_count", .count), .optional("last_event", .count),
            .optional("invited_by", .uuid),
        ]))
}

struct ConversationMemberView: Encodable, Sendable, Described {
    var user: UserID
    var state: ConversationMember.State
    var since: WallTime

    init(_ member: ConversationMember) {
        user = member.user
        state = member.state
        since = member.since
    }

    static let schema = Schema.named(
        "ConversationMember",
        .object([.required("user", .uuid), .required("state", ConversationView.stateSchema), .required("since", .time)]))
}

struct ConversationEventView: Encodable, Sendable, Described {
    var number: Int64
    var type: ConversationEvent.Kind
    var user: UserID
    var timestamp: WallTime
    var text: String?

    init(_ event: ConversationEvent) {
        number = event.number
        type = event.kind
        user = event.user
        timestamp = event.at
        text = event.text
    }

    static let schema = Schema.named(
        "ConversationEvent",
        .object([
            .required("number", .count), .required("type", .choice(ConversationEvent.Kind.allCases.map(\.rawValue))),
            .required("user", .uuid), .required("timestamp", .time), .optional("text", .text),
        ]))
}
