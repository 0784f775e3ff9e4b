package import Engine
package import HTTPServer
package import Store
package import Wire

/// What an app's backend needs besides the rooms, put together: accounts, sessions, and the records of both.
package struct Backend: Sendable {
    package let store: SessionStore
    package let accounts: AccountService
    package let rooms: SessionRooms
    /// Nil: nothing is recorded.
    package let recordings: SessionRecordings?
    package let facts: AuditEventQueue
    /// The way to who keeps the calls.
    package let calls: CallInbox
    private let publicURL: String?
    private let webhooks: WebhookWriter

    /// - Parameters:
    ///   - publicURL: how clients reach the gateway, `wss://…`; nil: as each request did.
    ///   - recordingsDirectory: where recordings of logged sessions go; nil: none are made.
    ///   - endpoints: who is told what happens in all rooms and sessions.
    package init(
        store: SessionStore, outside: OutsideIssuer? = nil, publicURL: String? = nil, recordingsDirectory: String? = nil,
        tellingEndpoints endpoints: [String] = []
    ) throws {
        self.store = store
        let rooms = SessionRooms(recordsLogged: recordingsDirectory != nil)
        self.rooms = rooms
        recordings = try recordingsDirectory.map { try SessionRecordings(store: store, rooms: rooms, directory: $0) }
        let tokens = try UserTokens(key: store.userTokenKey, outside: outside)
        accounts = AccountService(store: store, tokens: tokens)
        let calls = CallInbox(tokens: tokens, rooms: CallRooms())
        self.calls = calls
        self.publicURL = publicURL
        webhooks = WebhookWriter(to: endpoints)
        let tellsAllRooms = !endpoints.isEmpty
        facts = AuditEventQueue(
            keeping: { room in
                room.hasPrefix(Session.roomPrefix) || CallRooms.isOne(room) || tellsAllRooms ? rooms.keeping(of: room) : .nothing
            },
            refuses: { room, who in rooms.refusal(of: room) ?? calls.rooms.refusal(of: who, in: room) },
            briefing: rooms.briefing,
            witness: { fact in calls.take(fact) })
    }

    /// The sessions of a gateway, given the door to its rooms.
    package func sessions(_ desk: RoomService, keys: KeysInUse) -> SessionService {
        SessionService(
            store: store, rooms: rooms, desk: desk, keys: keys, publicURL: publicURL, recordings: recordings,
            webhooks: SessionWebhooks(
                ended: { [webhooks] in webhooks.webhooks(forEndOf: $0, at: .now) },
                summaryReady: { [webhooks] in webhooks.webhooks(for: $1, of: $0, at: .now) }))
    }

    package func keeper(of sessions: SessionService, summarizer: any Summarizer) -> SessionKeeper {
        SessionKeeper(desk: sessions, facts: facts, summarizer: summarizer) { [rooms, webhooks] fact in
            let owner = rooms.owner(of: fact.room.info.name)
            return webhooks.webhooks(for: fact, of: owner?.session, user: owner?.user)
        }
    }

    /// Who keeps the calls of a gateway, which must have been given `calls`.
    package func callService(
        _ desk: RoomService, keys: KeysInUse, server: ServerInfo, settings: CallSettings = CallSettings(), hooks: CallHooks? = nil
    ) -> CallService {
        CallService(
            door: calls, accounts: accounts, desk: desk, pass: CallTokenMinter(keys: keys, server: server, publicURL: publicURL),
            settings: settings, hooks: hooks ?? CallHooks(webhooks: { [webhooks] in webhooks.webhooks(for: $0, at: .now) }))
    }

    package func routes(_ sessions: SessionService, _ calls: CallService) -> [Route] {
        let accounts = AccountRoutes.routes(
            accounts, changed: sessions.brief,
            deleted: { user in
                calls.forget(user)
                await sessions.forget(user)
            })
        return accounts + SessionRoutes.routes(sessions, user: self.accounts.user) + CallRoutes.routes(calls, user: self.accounts.user)
    }
}
