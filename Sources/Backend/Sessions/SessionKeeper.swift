internal import Engine
internal import Logging
internal import ServiceLifecycle
package import Store
internal import Wire

/// Keeps records of what happens in rooms: what is said in a logged session becomes its turns, a room that ends ends its session, and other
/// servers are told. Besides, what comes due by the clock: sessions whose room is gone, summaries, retention.
///
/// The one reader of the facts. It ends when no more come, which is when the gateway has ended.
package struct SessionKeeper: Service {
    private let desk: SessionService
    private let facts: AuditEventQueue
    private let summarizer: any Summarizer
    /// What is to be told of a fact.
    private let webhooks: @Sendable (RoomAuditEvent) -> [OutgoingWebhook]
    private let log = Logger(label: "patchbay.sessions")

    /// How old a session must be to be ended because its room is not open: people need a while to come, also after the gateway's restart.
    static let arrivalPatience = Duration.seconds(120)
    private static let reapEvery = Duration.seconds(30)
    private static let summariseEvery = Duration.seconds(1)
    private static let expireEvery = Duration.seconds(3_600)
    private static let storePause = Duration.seconds(1)

    init(
        desk: SessionService, facts: AuditEventQueue, summarizer: any Summarizer,
        webhooks: @escaping @Sendable (RoomAuditEvent) -> [OutgoingWebhook]
    ) {
        self.desk = desk
        self.facts = facts
        self.summarizer = summarizer
        self.webhooks = webhooks
    }

    /// Remembers the sessions that went on when the process ended. Before anybody is let in.
    package static func restore(_ rooms: SessionRooms, from store: SessionStore) async throws {
        for session in try await store.openSessions(startedBefore: .now, limit: 100_000) { rooms.add(session) }
        for user in rooms.users { for room in rooms.rooms(of: user) { await rooms.brief(room, from: store) } }
    }

    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await Task.sleep(for: Self.arrivalPatience) } catch { return }
                await every(Self.reapEvery, reap)
            }
            group.addTask { await every(Self.summariseEvery, summarise) }
            group.addTask { await every(Self.expireEvery, expire) }
            while let items = await facts.next(upTo: 64) {
                for item in items { await take(item) }
            }
            group.cancelAll()
        }
    }

    // MARK: Facts

    private func take(_ item: AuditEventQueue.Item) async {
        switch item {
        case .missing(let count, let rooms):
            log.error("facts of rooms are missing; the store was too slow", metadata: ["count": "\(count)", "rooms": "\(rooms.count)"])
        case .fact(let fact):
            if case .room(.transcribed(let said)) = fact.event { await keep(said, fact) }
            let telling = webhooks(fact)
            if !telling.isEmpty { await persist { try await desk.store.tell(telling, at: .now) } }
            if case .room(.finished(let reason)) = fact.event, reason != .serverShutdown {
                await finish(fact.room.info.name)
            }
        }
    }

    /// A session ends with its room. Not when the gateway ends: then it goes on with the next one.
    private func finish(_ room: String) async {
        guard let owner = desk.rooms.owner(of: room) else { return }
        await persist { _ = try await desk.end(owner.session, of: owner.user) }
        desk.rooms.forget(room)
    }

    private func keep(_ said: Room.TranscribedSegment, _ fact: RoomAuditEvent) async {
        let room = fact.room.info.name
        guard let session = SessionID(text: String(room.dropFirst(Session.roomPrefix.count))),
            let user = desk.rooms.owner(of: room)?.user
        else { return }
        let segment = said.segment
        let text = segment.spokenText
        // A revision without text deletes the turn: nothing of it was played.
        guard !text.isEmpty || segment.rev > 0 else { return }
        let turn = Turn(
            id: TurnID(session: session, segment: "\(fact.room.info.sid) \(segment.id)"), sessionID: session,
            timestamp: WallTime(milliseconds: fact.time(of: said.began)), speaker: segment.role == .assistant ? .assistant : .user,
            text: text,
            audioRef: said.isRecorded
                ? said.track.flatMap { track in fact.room.recording.map { RecordedFile.name(of: track, in: $0) } } : nil,
            durationMs: (said.ended - said.began).inMilliseconds > 0 ? Int((said.ended - said.began).inMilliseconds) : nil,
            revision: segment.rev)
        await persist { _ = try await desk.store.append(turn, of: user) }
    }

    /// Does it, and again as long as the store has no room or no time: the facts wait meanwhile, up to their queue's limit.
    private func persist(_ body: () async throws -> Void) async {
        while !Task.isCancelled {
            do {
                return try await body()
            } catch StoreError.full, StoreError.busy {
                log.warning("the store has no room; what happens in sessions waits")
                try? await Task.sleep(for: Self.storePause)
            } catch StoreError.notFound {
                return
            } catch {
                return log.error("not kept", metadata: ["error": "\(error)"])
            }
        }
    }

    // MARK: By the clock

    private func every(_ pause: Duration, _ body: () async throws -> Void) async {
        while !Task.isCancelled {
            do { try await body() } catch is CancellationError { return } catch { log.error("put off", metadata: ["error": "\(error)"]) }
            do { try await Task.sleep(for: pause) } catch { return }
        }
    }

    /// Ends sessions whose room is gone: after a crash, or because nobody came.
    private func reap() async throws {
        let latest = WallTime(milliseconds: WallClock.milliseconds - Self.arrivalPatience.inMilliseconds)
        for session in try await desk.store.openSessions(startedBefore: latest) where !desk.desk.roomIsOpen(named: session.roomName) {
            try await desk.end(session.id, of: session.userID)
        }
        desk.rooms.forgetThoseEnded(before: latest)
    }

    private func summarise() async throws {
        let worker = SummaryWorker(store: desk.store, summarizer: summarizer) { desk.webhooks.summaryReady($0, $1) }
        while true {
            switch try await worker.runNext(now: { .now }) {
            case .idle: return
            case .stored(let user): await desk.brief(user)
            case .skipped: continue
            }
        }
    }

    private func expire() async throws {
        _ = try await desk.store.expire(at: .now)
        for user in desk.rooms.users { await desk.brief(user) }
        try await desk.recordings?.removeUnwanted()
    }
}
