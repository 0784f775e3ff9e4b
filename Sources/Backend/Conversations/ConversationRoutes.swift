internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Store
internal import Wire

/// `/v1/conversations…`: persistent conversations of users. For users who are not members, a conversation does not exist.
enum ConversationRoutes {
    static func routes(_ accounts: AccountService) -> [Route] {
        let (store, user) = (accounts.store, accounts.userAccess)
        let (texts, invitations) = (RateLimiter.conversationTexts(), RateLimiter.conversationInvitations())
        let storage = RouteOutcome.error(.init(code: 507, reasonPhrase: "Insufficient Storage"))
        return [
            Route(
                .post, "/v1/conversations", "Makes a conversation, which the user has joined", access: user, body: NewConversation.self,
                responses: [.json(ConversationView.self, status: .created), storage]
            ) { _, user, body in
                let made = try await store.makeConversation(named: body.name, by: user, at: .now)
                return try .json(ConversationView(made), status: .created)
            },
            Route(
                .get, "/v1/conversations",
                "Lists the conversations that the user is invited to or has joined, the latest first; a Link header gives the next page",
                access: user, parameters: [PageQuery.limit, PageQuery.cursor], responses: [.json(.array(of: ConversationView.schema))]
            ) { request, user in
                let cursor = try request.query("cursor").map { text throws(StoreError) in try TimeCursor(text: text) }
                let limit = PageQuery.limit(of: request)
                let page = try await store.conversations(of: user, after: cursor, limit: limit)
                return try PageQuery.response(
                    page.conversations.map(ConversationView.init), request.path, limit: limit, next: page.next?.text)
            },
            Route(
                .get, "/v1/conversations/:id", "Shows a conversation", access: user, parameters: [id],
                responses: [.json(ConversationView.self), .error(.notFound)]
            ) { request, user in
                try .json(ConversationView(try await store.conversation(try conversation(request), of: user)))
            },
            Route(
                .post, "/v1/conversations/:id/invite", "Invites a user, by id, e-mail address or handle; idempotent", access: user,
                parameters: [id], body: ConversationInvitation.self,
                responses: [.noContent, .error(.notFound), .error(.tooManyRequests), storage]
            ) { request, user, body in
                try invitations.check(user.text, at: request.receivedAt)
                let id = try conversation(request)
                // Checked first, so that a refusal does not reveal whether the address has an account.
                guard try await store.conversation(id, of: user).state == .joined else { throw StoreError.notFound }
                try await accounts.limitingUnknownCallees(of: user, request) {
                    guard let address = UserAddress(text: body.user),
                        let guest = try await store.callees(at: [address], for: user, isConfirmed: accounts.settings.confirmsEmail)[address]
                    else { throw StoreError.notFound }
                    try await store.invite(guest, to: id, by: user, at: .now)
                }
                return .noContent
            },
            Route(
                .post, "/v1/conversations/:id/join", "Joins a conversation that the user is invited to; idempotent", access: user,
                parameters: [id], responses: [.json(ConversationView.self), .error(.notFound), storage]
            ) { request, user in
                try .json(ConversationView(try await store.join(try conversation(request), of: user, at: .now)))
            },
            Route(
                .post, "/v1/conversations/:id/leave", "Leaves a conversation, or declines an invitation", access: user, parameters: [id],
                responses: [.noContent, .error(.notFound), storage]
            ) { request, user in
                try await store.leave(try conversation(request), of: user, at: .now)
                return .noContent
            },
            Route(
                .get, "/v1/conversations/:id/members", "Lists the members in the order of their invitation; for those who have joined",
                access: user,
                parameters: [id, PageQuery.limit, PageQuery.cursor],
                responses: [.json(.array(of: ConversationMemberView.schema)), .error(.notFound)]
            ) { request, user in
                let cursor = try request.query("cursor").map { text throws(StoreError) in try NumberCursor(text: text) }
                let limit = PageQuery.limit(of: request)
                let page = try await store.members(of: try conversation(request), for: user, after: cursor, limit: limit)
                return try PageQuery.response(
                    page.elements.map(ConversationMemberView.init), request.path, limit: limit, next: page.next?.text)
            },
            Route(
                .post, "/v1/conversations/:id/events", "Adds a text", access: user, parameters: [id], body: NewConversationEvent.self,
                responses: [
                    .json(ConversationEventView.self, status: .created), .error(.notFound), .error(.tooManyRequests), storage,
                ]
            ) { request, user, body in
                try texts.check(user.text, at: request.receivedAt)
                let event = try await store.say(body.text, in: try conversation(request), by: user, at: .now)
                return try .json(ConversationEventView(event), status: .created)
            },
            Route(
                .get, "/v1/conversations/:id/events", "Lists events in their order; a Link header gives the next page", access: user,
                parameters: [id, PageQuery.limit, .query("after", .count, "Only events after this number")],
                responses: [.json(.array(of: ConversationEventView.schema)), .error(.notFound)]
            ) { request, user in
                let (after, limit) = (request.query("after").flatMap { Int64($0) } ?? 0, PageQuery.limit(of: request))
                let page = try await store.events(of: try conversation(request), for: user, after: after, limit: limit)
                var response = try HTTPServerResponse.json(page.events.map(ConversationEventView.init))
                let last = page.hasMore ? page.events.last : nil
                PageQuery.link(response: &response, to: last.map { "after=\($0.number)" }, request.path, limit: limit)
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
