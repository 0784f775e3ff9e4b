internal import Engine
internal import Logging
internal import ServiceLifecycle
internal import Store
internal import Wire

/// Writes audit events to the store: transcribed segments and chat messages of logged sessions become turns, a finished room ends its
/// session, and webhooks are queued.
///
/// The single reader of the `AuditEventQueue`. Runs, together with `SessionMaintenance`, until the queue is finished, that is until the
/// gateway has stopped. If it is cancelled, what is left in the queue is lost.
package struct AuditEventWriter: Service {
    private let events: AuditEventQueue
    private let sessions: SessionService
    private let webhooks: WebhookWriter
    private let maintenance: SessionMaintenance
    private let log = Logger(label: "patchbay.sessions")

    init(events: AuditEventQueue, sessions: SessionService, webhooks: WebhookWriter, maintenance: SessionMaintenance) {
        self.events = events
        self.sessions = sessions
        self.webhooks = webhooks
        self.maintenance = maintenance
    }

    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await maintenance.run() }
            while let items = await events.next(upTo: 64) {
                for item in items { await write(item) }
            }
            if case let count = events.count, count > 0 {
                log.error("audit events were not stored; the gateway was stopping", metadata: ["count": "\(count)"])
            }
            group.cancelAll()
        }
    }

    private func write(_ item: AuditEventQueue.Item) async {
        switch item {
        case .missing(let count, let rooms):
            log.error("audit events were dropped; the store was too slow", metadata: ["count": "\(count)", "rooms": "\(rooms.count)"])
        case .event(let event):
            switch event.event {
            case .room(.transcribed(let transcribed)): await write(transcribed, event)
            case .room(.typed(let typed)): await write(typed, event)
            default: break
            }
            let owner = sessions.sessionRooms.owner(of: event.room.info.name)
            let announcement = webhooks.announcement(of: event, session: owner?.session, user: owner?.user)
            if !announcement.webhooks.isEmpty { await persist { try await sessions.store.announce(announcement, at: .now) } }
            if case .room(.finished(let reason)) = event.event, reason != .serverShutdown { await endSession(of: event.room.info.name) }
        }
    }

    /// A session ends with its room, except in a shutdown: then it continues in the next process.
    private func endSession(of room: String) async {
        guard let owner = sessions.sessionRooms.owner(of: room) else { return }
        await persist { _ = try await sessions.end(owner.session, of: owner.user) }
        sessions.sessionRooms.remove(room)
    }

    private func write(_ transcribed: Room.TranscribedSegment, _ event: RoomAuditEvent) async {
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
        await persist { _ = try await sessions.store.append(turn, of: user) }
    }

    private func write(_ typed: Room.TypedText, _ event: RoomAuditEvent) async {
        guard let (user, session) = sessions.sessionRooms.owner(of: event.room.info.name) else { return }
        // The history is the user's: what others tell each other is not part of it.
        guard
            SessionDevice.belongs(typed.sender, to: user)
                || typed.recipients.map({ $0.contains { SessionDevice.belongs($0, to: user) } }) ?? true
        else { return }
        let turn = Turn(
            id: TurnID(session: session, segment: "\(event.room.info.sid) \(typed.id)"), sessionID: session,
            timestamp: WallTime(milliseconds: event.at), speaker: typed.kind == .agent ? .assistant : .user, text: typed.text)
        await persist { _ = try await sessions.store.append(turn, of: user) }
    }

    /// Retries while the store is full or busy. Meanwhile events stay queued, up to the queue's limit.
    private func persist(_ body: () async throws -> Void) async {
        do {
            try await StoreError.retryingWhileUnavailable {
                log.warning("the store is full or busy; audit events wait")
            } body: {
                try await body()
            }
        } catch StoreError.notFound {
            return
        } catch {
            log.error("an audit event was not stored", metadata: ["error": "\(error)"])
        }
    }
}
