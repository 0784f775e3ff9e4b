internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Store
internal import Wire

/// `/v1/conversations…`: persistent conversations of users. For users who are not members, a conversation does not exist.
enum ConversationRoutes {
    static func routes(_ accounts: AccountService, _ store: Conversations, _ sender: ConversationNewsSender) -> [Route] {
        let user = accounts.userAccess
        let texts = RequestRate(
            50, per: .seconds(10), HTTPError(.tooManyEvents, "too many texts in a short time; try again later"))
        let invitations = RequestRate(
            60, per: .seconds(60), HTTPError(.tooManyInvitations, "too many invitations in a short time; try again later"))
        return [
            Route(
                .post, "/v1/conversations", "Makes a conversation, which the user has joined", access: user, body: NewConversation.self,
                responses: [.json(ConversationViews.conversation, status: .created), .storeFull]
            ) { _, user, body in
                let made = try await store.make(named: body.name, by: user, telling: sender.outlet(), at: .now)
                return .json(ConversationViews.conversation(made), status: .created)
            },
            Route(
                .get, "/v1/conversations",
                "Lists the conversations that the user is invited to or has joined, the latest first; a Link header gives the next page",
                access: user, parameters: [PageQuery.limit, PageQuery.cursor],
                responses: [.json(.array(of: ConversationViews.conversation.schema))]
            ) { request, user in
                try await PageQuery.views(to: request) { cursor, limit in
                    let page = try await store.list(of: user, after: cursor, limit: limit)
                    return (page.elements.map { ConversationViews.conversation($0) }, page.next)
                }
            },
            Route(
                .get, "/v1/conversations/:id", "Shows a conversation", access: user, parameters: [id],
                responses: [.json(ConversationViews.conversation), .error(.notFound)]
            ) { request, user in
                .json(ConversationViews.conversation(try await store.conversation(try conversation(request), of: user)))
            },
            Route(
                .post, "/v1/conversations/:id/invite", "Invites a user, by id, e-mail address or handle; idempotent", access: user,
                parameters: [id], body: ConversationInvitation.self,
                responses: [.noContent, .error(.notFound), .error(.tooManyRequests), .storeFull]
            ) { request, user, body in
                try invitations.check(user.text, at: request.receivedAt)
                let id = try conversation(request)
                // Checked first, so that a refusal does not reveal whether the address has an account.
                guard try await store.conversation(id, of: user).state == .joined else { throw StoreError.notFound }
                let isInvited = try await accounts.guesses.attempt(by: [AccountService.callees(of: user.text)]) { () -> Bool? in
                    guard let address = UserAddress(text: body.user),
                        let guest = try await accounts.store.callees(
                            at: [address], for: user, isConfirmed: accounts.settings.confirmsEmail)[address]
                    else { return nil }
                    // A user with too many invitations looks like an unknown one, and counts as one.
                    do throws(StoreError) {
                        try await store.invite(guest, to: id, by: user, telling: sender.outlet(), at: .now)
                    } catch .notFound { return nil }
                    return true
                }
                guard isInvited != nil else { throw StoreError.notFound }
                return .noContent
            },
            Route(
                .post, "/v1/conversations/:id/join", "Joins a conversation that the user is invited to; idempotent", access: user,
                parameters: [id], responses: [.json(ConversationViews.conversation), .error(.notFound), .storeFull]
            ) { request, user in
                .json(
                    ConversationViews.conversation(
                        try await store.join(try conversation(request), of: user, telling: sender.outlet(), at: .now)))
            },
            Route(
                .post, "/v1/conversations/:id/leave", "Leaves a conversation, or declines an invitation", access: user, parameters: [id],
                responses: [.noContent, .error(.notFound), .storeFull]
            ) { request, user in
                try await store.leave(try conversation(request), of: user, telling: sender.outlet(), at: .now)
                return .noContent
            },
            Route(
                .get, "/v1/conversations/:id/members", "Lists the members in the order of their invitation; for those who have joined",
                access: user,
                parameters: [id, PageQuery.limit, PageQuery.cursor],
                responses: [.json(.array(of: ConversationViews.member.schema)), .error(.notFound)]
            ) { request, user in
                try await PageQuery.views(to: request) { cursor, limit in
                    let page = try await store.members(of: try conversation(request), for: user, after: cursor, limit: limit)
                    return (page.elements.map { ConversationViews.member($0) }, page.next)
                }
            },
            Route(
                .post, "/v1/conversations/:id/events", "Adds a text", access: user, parameters: [id], body: NewConversationEvent.self,
                responses: [
                    .json(ConversationViews.event, status: .created), .error(.notFound), .error(.tooManyRequests), .storeFull,
                ]
            ) { request, user, body in
                try texts.check(user.text, at: request.receivedAt)
                let event = try await store.say(body.text, in: try conversation(request), by: user, telling: sender.outlet(), at: .now)
                return .json(ConversationViews.event(event), status: .created)
            },
            Route(
                .get, "/v1/conversations/:id/events", "Lists events in their order; a Link header gives the next page", access: user,
                parameters: [id, PageQuery.limit, .query("after", .count, "Only events after this number")],
                responses: [.json(.array(of: ConversationViews.event.schema)), .error(.notFound)]
            ) { request, user in
                let (after, limit) = (request.query("after").flatMap { Int64($0) } ?? 0, PageQuery.limit(of: request))
                let page = try await store.events(of: try conversation(request), for: user, after: after, limit: limit)
                var response = HTTPServerResponse.json(page.events.map { ConversationViews.event($0) })
                let last = page.hasMore ? page.events.last : nil
                PageQuery.link(response: &response, to: last.map { "after=\($0.number)" }, request)
                return response
            },
        ]
    }

    private static let id = RouteParameter.path("id", .uuid, "The conversation")

    private static func conversation(_ request: HTTPServerRequest) throws(StoreError) -> ConversationID {
        guard let id = ConversationID(text: request.parameter("id")) else { throw .notFound }
        return id
    }
}

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

/// JSON responses that describe conversations to clients.
enum ConversationViews {
    private static let state = Schema.choice(ConversationMember.State.allCases.map(\.rawValue))

    static let conversation = JSONView<Conversation>(
        "Conversation",
        [
            .required("id", .uuid) { $0.id }, .required("name", NewConversation.nameSchema) { $0.name },
            .required("state", state) { $0.state.rawValue }, .required("created_at", .time) { $0.createdAt },
            .count("member_count") { Int64($0.memberCount) },
            // Only for a user that has joined.
            .optionalCount("last_event") { $0.state == .joined ? $0.lastEvent : nil },
            // Only for an invited user, unless the inviter has been deleted.
            .optional("invited_by", .uuid) { $0.inviter },
        ])

    static let member = JSONView<ConversationMember>(
        "ConversationMember",
        [.required("user", .uuid) { $0.user }, .required("state", state) { $0.state.rawValue }, .required("since", .time) { $0.since }])

    static let event = JSONView<ConversationEvent>(
        "ConversationEvent",
        [
            .count("number") { $0.number },
            .required("type", .choice(ConversationEvent.Kind.allCases.map(\.rawValue))) { $0.kind.rawValue },
            .required("user", .uuid) { $0.user }, .required("timestamp", .time) { $0.at }, .optional("text", .text) { $0.text },
        ])
}
