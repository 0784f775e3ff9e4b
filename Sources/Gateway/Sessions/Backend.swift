internal import Engine
package import Sessions

/// What an app's backend needs besides the rooms, put together: accounts, sessions, and the records of both.
package struct Backend: Sendable {
    package let store: Store
    package let accounts: AccountDesk
    package let rooms = SessionRooms()
    package let facts: FactQueue
    private let publicURL: String?
    private let webhooks: SessionWebhooks

    /// - Parameters:
    ///   - publicURL: how clients reach the gateway, `wss://…`; nil: as each request did.
    ///   - tellsAllRooms: whether facts of rooms without a session are wanted, too.
    package init(
        store: Store, outside: OutsideIssuer? = nil, publicURL: String? = nil, webhooks: SessionWebhooks = .none,
        tellsAllRooms: Bool = false
    ) throws {
        self.store = store
        accounts = AccountDesk(store: store, tokens: try UserTokens(key: store.userTokenKey, outside: outside))
        self.publicURL = publicURL
        self.webhooks = webhooks
        facts = FactQueue(
            keeping: { [rooms] room in room.hasPrefix(Session.roomPrefix) || tellsAllRooms ? rooms.keeping(of: room) : .nothing },
            admits: { [rooms] room in rooms.mayBeJoined(room) })
    }

    /// The sessions of a gateway, given the door to its rooms.
    package func sessions(_ desk: RoomDesk, keys: KeysInUse) -> SessionDesk {
        SessionDesk(store: store, rooms: rooms, desk: desk, keys: keys, publicURL: publicURL, webhooks: webhooks)
    }

    package func routes(_ sessions: SessionDesk) -> [Route] {
        AccountRoutes.routes(accounts) { await sessions.closeRooms(of: $0) } + SessionRoutes.routes(sessions, user: accounts.user)
    }
}
