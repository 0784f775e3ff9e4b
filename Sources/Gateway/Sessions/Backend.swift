internal import Engine
package import Sessions
internal import Wire

/// What an app's backend needs besides the rooms, put together: accounts, sessions, and the records of both.
package struct Backend: Sendable {
    package let store: Store
    package let accounts: AccountDesk
    package let rooms: SessionRooms
    /// Nil: nothing is recorded.
    package let recordings: SessionRecordings?
    package let facts: FactQueue
    private let publicURL: String?
    private let webhooks: WebhookWriter

    /// - Parameters:
    ///   - publicURL: how clients reach the gateway, `wss://…`; nil: as each request did.
    ///   - recordingsDirectory: where recordings of logged sessions go; nil: none are made.
    ///   - endpoints: who is told what happens in all rooms and sessions.
    package init(
        store: Store, outside: OutsideIssuer? = nil, publicURL: String? = nil, recordingsDirectory: String? = nil,
        tellingEndpoints endpoints: [String] = []
    ) throws {
        self.store = store
        let rooms = SessionRooms(recordsLogged: recordingsDirectory != nil)
        self.rooms = rooms
        recordings = try recordingsDirectory.map { try SessionRecordings(store: store, rooms: rooms, directory: $0) }
        accounts = AccountDesk(store: store, tokens: try UserTokens(key: store.userTokenKey, outside: outside))
        self.publicURL = publicURL
        webhooks = WebhookWriter(to: endpoints)
        let tellsAllRooms = !endpoints.isEmpty
        facts = FactQueue(
            keeping: { room in room.hasPrefix(Session.roomPrefix) || tellsAllRooms ? rooms.keeping(of: room) : .nothing },
            admits: { room in rooms.mayBeJoined(room) })
    }

    /// The sessions of a gateway, given the door to its rooms.
    package func sessions(_ desk: RoomDesk, keys: KeysInUse) -> SessionDesk {
        SessionDesk(
            store: store, rooms: rooms, desk: desk, keys: keys, publicURL: publicURL, recordings: recordings,
            webhooks: SessionWebhooks(
                ended: { [webhooks] in webhooks.webhooks(forEndOf: $0, at: .now) },
                summaryReady: { [webhooks] in webhooks.webhooks(for: $1, of: $0, at: .now) }))
    }

    package func keeper(of sessions: SessionDesk, summarizer: any Summarizer) -> SessionKeeper {
        SessionKeeper(desk: sessions, facts: facts, summarizer: summarizer) { [rooms, webhooks] fact in
            let owner = rooms.owner(of: fact.room.info.name)
            return webhooks.webhooks(for: fact, of: owner?.session, user: owner?.user)
        }
    }

    package func routes(_ sessions: SessionDesk) -> [Route] {
        AccountRoutes.routes(accounts) { await sessions.forget($0) } + SessionRoutes.routes(sessions, user: accounts.user)
    }
}
