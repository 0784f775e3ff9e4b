internal import HTTPServer
package import Store
package import Wire

/// Recovers what other nodes of a cluster have left open: rooms, their sessions, and calls between users.
///
/// A starting gateway without a cluster recovers everything at once (`BackendServices.restore()`). In a cluster, rooms continue at other nodes.
/// This type finds the rooms that were open on nodes that have ended; the cluster decides which node recovers each. Calls continue
/// at the coordinator.
package struct RoomRecovery: Sendable {
    private let store: Store
    private var webhooks: Webhooks { store.webhooks }
    private let calls: CallInbox
    private let writer: WebhookWriter
    private let events: AuditEventQueue
    private let sessionRooms: SessionRooms
    private let node: String

    init(store: Store, calls: CallInbox, writer: WebhookWriter, events: AuditEventQueue, sessionRooms: SessionRooms, node: String) {
        self.store = store
        self.calls = calls
        self.writer = writer
        self.events = events
        self.sessionRooms = sessionRooms
        self.node = node
    }

    /// A room or call that is open at a node, as it was announced.
    package struct Open<Content: Sendable>: Sendable {
        package let content: Content
        /// Nil if it was announced without a cluster.
        package var node: String? { announcement.node }
        fileprivate let announcement: OpenAnnouncement
    }

    // MARK: Rooms

    /// Announced rooms that are open at none of these nodes: those of the nodes that have ended.
    package func openRooms(except nodes: [String]) async throws(StoreError) -> [Open<RoomInfo>] {
        try await open(WebhookWriter.roomPrefix, except: nodes)
    }

    /// Loads a room's session, so that the room can be joined and its transcript stored at this node. Call when this node has become the
    /// room's home, before anybody joins.
    ///
    /// - Returns: false if the room's session has ended or does not exist; true also for a room without a session.
    /// - Throws: `unreachable`, also for a room without a session.
    @discardableResult
    package func loadSession(of room: String) async throws(StoreError) -> Bool {
        guard let session = Session.id(ofRoom: room) else {
            try await store.check()
            return true
        }
        return try await sessionRooms.load(session, from: store.sessions)
    }

    /// Makes the store refuse what earlier homes of a room write, and notes that the room is open here. Call when this node has become the
    /// room's home and has an epoch for it. The room need not wait, because each of its own writes carries the epoch too.
    ///
    /// - Throws: `StoreError.superseded` if another home has written already. `full`, `busy` or `unreachable` if this must wait for the
    ///   store: it is done, before the room's later events are stored, once the store has recovered.
    package func adopt(_ room: RoomInfo) async throws {
        let (webhooks, events, node) = (webhooks, events, node)
        try await events.performing(room.name) { fence in
            guard let fence else { return }
            try await events.persisting { try await webhooks.move(WebhookWriter.key(of: room), to: node, fencedBy: fence) }
        }
    }

    /// Forgets the session of a room that has moved to another node, once the room's earlier events are stored: their turns belong to it.
    package func forgetSession(of room: String) {
        let (events, sessionRooms) = (events, sessionRooms)
        let isTaken = events.append(
            RoomWrite(room) { _ in
                // Unless the room has come back.
                if events.epoch(of: room) == nil { sessionRooms.forget(room) }
            })
        if !isTaken { sessionRooms.forget(room) }
    }

    /// Announces the end of a room that no node can continue. Its session ends later, unless its user rejoins (`SessionMaintenance`).
    /// Call when this node has become the room's home.
    ///
    /// - Throws: `StoreError.superseded` if another home has written. Otherwise as `adopt(_:)`.
    package func end(_ room: Open<RoomInfo>) async throws {
        try await end(room.announcement, in: room.content.name)
    }

    // MARK: Calls

    /// Continues all calls between users at this node, which has become the coordinator.
    ///
    /// - Throws: `StoreError` if the store cannot be read now.
    package func continueCalls() async throws {
        let (webhooks, events) = (webhooks, events)
        // What an earlier coordinator stores from now on would be missing here.
        try await events.performing(RoomHomes.coordinatorRoom) { fence in
            if let fence { try await webhooks.raise(fence) }
        }
        let open: [Open<CallInfo>] = try await open(WebhookWriter.callPrefix, except: [])
        guard coordinates else { return }
        await calls.begin(with: open.map(\.content))
        // This node may have lost the term meanwhile.
        if !coordinates { leaveCalls() }
    }

    /// Whether this node is the coordinator.
    package var coordinates: Bool { isHome(of: RoomHomes.coordinatorRoom) }

    package func isHome(of room: String) -> Bool { events.epoch(of: room) != nil }

    /// Waits until the changes of calls are stored, for a few seconds: another node is about to become the coordinator.
    package func settleCalls() async { await events.settle([RoomHomes.coordinatorRoom], within: Self.settlingMax) }

    private static let settlingMax = Duration.seconds(5)

    /// Another node has become the coordinator.
    package func leaveCalls() { calls.post(.resign) }

    // MARK: -

    private func open<Content: Decodable & Sendable>(
        _ prefix: String, except nodes: [String]
    ) async throws(StoreError) -> [Open<Content>] {
        try await webhooks.openAnnouncements(prefix, except: nodes).compactMap { open in
            let content = try? JSON.decode(Content.self, from: Array(open.content.utf8), names: .snakeCase)
            return content.map { Open(content: $0, announcement: open) }
        }
    }

    private func end(_ open: OpenAnnouncement, in room: String) async throws {
        let (webhooks, events, writer) = (webhooks, events, writer)
        try await events.performing(room) { fence in
            let announcement = writer.end(of: open, at: .now)
            try await events.persisting { try await webhooks.announce(announcement, fencedBy: fence, at: .now) }
        }
    }
}
