internal import DequeModule
internal import Engine
internal import Logging
internal import ServiceLifecycle
internal import Store
internal import Synchronization
internal import Wire

/// Writes audit events to the store: transcribed segments and chat messages of logged sessions become turns, a finished room ends its
/// session, and webhooks are queued. Performs the services' writes about rooms in between.
///
/// Rooms are independent, so that their writes share commits; the events and writes of one room are stored one after another.
///
/// In a cluster, each write of a room is fenced by the epoch in which this node hosted the room. Events that the store refuses are lost,
/// and so are the room's later ones of the same epoch; other rooms are not affected.
///
/// The single reader of the `AuditEventQueue`. Runs, together with `SessionMaintenance`, until the queue is finished, that is until the
/// gateway has stopped. If it is cancelled, what is left in the queue is lost.
package struct AuditEventWriter: Service {
    private let events: AuditEventQueue
    private let sessions: SessionService
    private let calls: CallRooms
    private let webhooks: WebhookWriter
    private let webhookStore: Webhooks
    private let maintenance: SessionMaintenance
    private let refused: SupersededRooms
    /// Rooms whose items are written at the same time, and further items taken from the queue: enough for shared commits.
    private static let (roomsMax, itemsMax) = (128, 256)
    private let log = Logger(label: "patchbay.sessions")

    init(
        events: AuditEventQueue, sessions: SessionService, calls: CallRooms, webhooks: WebhookWriter, webhookStore: Webhooks,
        maintenance: SessionMaintenance, counters: ServiceCounters,
        superseded: (@Sendable (_ room: String, _ byNumber: UInt64) -> Void)?
    ) {
        self.events = events
        self.sessions = sessions
        self.calls = calls
        self.webhooks = webhooks
        self.webhookStore = webhookStore
        self.maintenance = maintenance
        refused = SupersededRooms(counters: counters, log: log, report: superseded)
    }

    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await maintenance.run() }
            await writeRooms()
            group.cancelAll()
        }
    }

    private func writeRooms() async {
        let lanes = RoomLanes()
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            while let items = await events.next(upTo: 64) {
                for item in items {
                    guard let room = room(of: item) else { continue }
                    if lanes.append(item, of: room) {
                        running += 1
                        group.addTask {
                            while let item = lanes.next(of: room) { await write(item) }
                        }
                    }
                    while running > Self.roomsMax || running > 0 && lanes.count > Self.itemsMax {
                        await group.next()
                        running -= 1
                    }
                }
            }
        }
        if case let count = events.count + lanes.count, count > 0 {
            log.error("audit events were not stored; the gateway was stopping", metadata: ["count": .stringConvertible(count)])
        }
    }

    private func room(of item: AuditEventQueue.Item) -> String? {
        switch item {
        case .event(let event): return event.room.info.name
        case .write(let write, _): return write.room
        case .missing(let count, let rooms):
            log.error(
                "audit events were dropped; the store was too slow",
                metadata: ["count": .stringConvertible(count), "rooms": .stringConvertible(rooms.count)])
            return nil
        }
    }

    private func write(_ item: AuditEventQueue.Item) async {
        switch item {
        case .missing: break
        case .write(let write, let epoch):
            // Only the coordinator writes about calls.
            guard epoch != nil || !events.isInCluster || write.room != RoomHomes.coordinatorRoom else { return write.refused() }
            do {
                try await write.perform(epoch.map { RoomFence(write.room, $0, at: .now) })
            } catch StoreError.superseded(let number) {
                write.refused()
                refused.note(write.room, epoch, byNumber: number)
            } catch {
                // Its error is handled where the write was appended.
            }
        case .event(let event): await write(event)
        }
    }

    private func write(_ event: RoomAuditEvent) async {
        let room = event.room.info.name
        let isKnownAsRefused = event.epoch.map { refused.contains(room, $0) } ?? events.isInCluster
        var number: UInt64?
        if !isKnownAsRefused {
            do {
                return try await write(event, fencedBy: event.epoch.map { RoomFence(room, $0, at: .now) })
            } catch StoreError.superseded(let higher) {
                number = higher
            } catch {
                return log.error("an audit event was not stored", metadata: ["error": "\(error)"])
            }
        }
        refused.note(room, event.epoch, byNumber: number)
        // The room has ended here only. It may be open here again, in a later epoch.
        if case .room(.finished) = event.event, events.epoch(of: room).map({ $0 == event.epoch }) ?? true {
            sessions.sessionRooms.forget(room)
        }
    }

    /// - Throws: `superseded`.
    private func write(_ event: RoomAuditEvent, fencedBy fence: RoomFence?) async throws {
        let room = event.room.info.name
        switch event.event {
        case .room(.transcribed(let transcribed)): try await write(transcribed, event, fencedBy: fence)
        case .room(.typed(let typed)): try await write(typed, event, fencedBy: fence)
        default: break
        }
        let session = sessions.sessionRooms.session(of: room)
        let announcement = webhooks.announcement(
            of: event, session: session?.id, user: session?.userID, trace: session?.trace ?? calls.trace(of: room))
        if !announcement.isEmpty {
            try await persist { try await webhookStore.announce(announcement, fencedBy: fence, at: .now) }
        }
        if case .room(.finished(let reason)) = event.event, reason != .serverShutdown { try await endSession(of: room, fencedBy: fence) }
    }

    /// A session ends with its room, except in a shutdown: then it continues in the next process.
    private func endSession(of room: String, fencedBy fence: RoomFence?) async throws {
        guard let owner = sessions.sessionRooms.owner(of: room) else { return }
        let request = sessions.sessionRooms.endingRequest(of: room)
        try await persist {
            _ = try await sessions.storeEnd(of: owner.session, of: owner.user, request: request, fencedBy: fence)
        }
        sessions.sessionRooms.remove(room)
    }

    private func write(_ transcribed: Room.TranscribedSegment, _ event: RoomAuditEvent, fencedBy fence: RoomFence?) async throws {
        guard let (user, session) = sessions.sessionRooms.owner(of: event.room.info.name) else { return }
        let segment = transcribed.segment
        let text = segment.spokenText
        // A revision without text means that nothing was played: delete the turn.
        guard !text.isEmpty || segment.rev > 0 else { return }
        let length = (transcribed.ended - transcribed.began).inMilliseconds
        let turn = Turn(
            id: TurnID(session: session, segment: "\(event.room.info.sid) \(segment.id)"), sessionID: session,
            timestamp: WallTime(milliseconds: event.time(of: transcribed.began)), speaker: segment.role == .assistant ? .assistant : .user,
            text: text,
            audioRef: transcribed.isRecorded
                ? transcribed.track.flatMap { track in event.room.recording.map { RecordedFile.name(of: track, in: $0) } } : nil,
            durationMs: length > 0 ? Int(length) : nil, revision: segment.rev)
        try await persist { _ = try await sessions.store.append(turn, of: user, fencedBy: fence) }
    }

    private func write(_ typed: Room.TypedText, _ event: RoomAuditEvent, fencedBy fence: RoomFence?) async throws {
        guard let (user, session) = sessions.sessionRooms.owner(of: event.room.info.name) else { return }
        // The history is the user's: what others tell each other is not part of it.
        guard
            SessionDevice.belongs(typed.sender, to: user)
                || typed.recipients.map({ $0.contains { SessionDevice.belongs($0, to: user) } }) ?? true
        else { return }
        let turn = Turn(
            id: TurnID(session: session, segment: "\(event.room.info.sid) \(typed.id)"), sessionID: session,
            timestamp: WallTime(milliseconds: event.at), speaker: typed.kind == .agent ? .assistant : .user, text: typed.text)
        try await persist { _ = try await sessions.store.append(turn, of: user, fencedBy: fence) }
    }

    /// Retries while the store is full or busy. Meanwhile events stay queued, up to the queue's limit.
    ///
    /// - Throws: `superseded`; other errors are logged.
    private func persist(_ body: () async throws -> Void) async throws {
        do {
            try await events.persisting {
                log.warning("the store is full or busy; audit events wait")
            } body: {
                try await body()
            }
        } catch StoreError.notFound {
            return
        } catch StoreError.superseded(let number) {
            throw StoreError.superseded(byNumber: number)
        } catch {
            log.error("an audit event was not stored", metadata: ["error": "\(error)"])
        }
    }
}

/// The items of each room that are being written, in order.
private final class RoomLanes: Sendable {
    /// A room is in it as long as a task writes its items.
    private let lanes = Mutex<[String: Deque<AuditEventQueue.Item>]>([:])

    /// Items that wait for those before them.
    var count: Int { lanes.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// - Returns: whether nobody writes the room's items yet.
    func append(_ item: AuditEventQueue.Item, of room: String) -> Bool {
        lanes.withLock { lanes in
            defer { lanes[room, default: []].append(item) }
            return lanes[room] == nil
        }
    }

    /// Nil if there is none, or the task is cancelled.
    func next(of room: String) -> AuditEventQueue.Item? {
        guard !Task.isCancelled else { return nil }
        return lanes.withLock { lanes in
            if let item = lanes[room]?.popFirst() { return item }
            lanes[room] = nil
            return nil
        }
    }
}
