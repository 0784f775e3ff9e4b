package import Engine
package import Sessions
package import Wire

/// What an app's backend needs besides the rooms, put together: accounts, sessions, and the records of both.
package struct Backend: Sendable {
    package let store: Store
    package let accounts: AccountDesk
    package let rooms = SessionRooms()
    package let facts: FactQueue
    /// The way to who keeps the calls.
    package let calls: CallDoor
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
        let tokens = try UserTokens(key: store.userTokenKey, outside: outside)
        accounts = AccountDesk(store: store, tokens: tokens)
        let calls = CallDoor(tokens: tokens, rooms: CallRooms())
        self.calls = calls
        self.publicURL = publicURL
        self.webhooks = webhooks
        facts = FactQueue(
            keeping: { [rooms] room in
                room.hasPrefix(Session.roomPrefix) || CallRooms.isOne(room) || tellsAllRooms ? rooms.keeping(of: room) : .nothing
            },
            refuses: { [rooms] room, who in rooms.refusal(of: room) ?? calls.rooms.refusal(of: who, in: room) },
            witness: { fact in calls.take(fact) })
    }

    /// The sessions of a gateway, given the door to its rooms.
    package func sessions(_ desk: RoomDesk, keys: KeysInUse) -> SessionDesk {
        SessionDesk(store: store, rooms: rooms, desk: desk, keys: keys, publicURL: publicURL, webhooks: webhooks)
    }

    /// Who keeps the calls of a gateway, which must have been given `calls`.
    package func callService(
        _ desk: RoomDesk, keys: KeysInUse, server: ServerInfo, settings: CallSettings = CallSettings(), hooks: CallHooks = CallHooks()
    ) -> CallService {
        CallService(
            door: calls, accounts: accounts, desk: desk, pass: CallPass(keys: keys, server: server, publicURL: publicURL),
            settings: settings, hooks: hooks)
    }

    package func routes(_ sessions: SessionDesk, _ calls: CallService) -> [Route] {
        let accounts = AccountRoutes.routes(accounts) { user in
            calls.forget(user)
            await sessions.closeRooms(of: user)
        }
        return accounts + SessionRoutes.routes(sessions, user: self.accounts.user) + CallRoutes.routes(calls, user: self.accounts.user)
    }
}
