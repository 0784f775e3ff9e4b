internal import HTTPServer
internal import Logging
internal import Store
internal import Wire

/// Periodic work: ends sessions without a room, makes summaries, and deletes data past its retention.
struct SessionMaintenance: Sendable {
    /// Minimum age of a session that is ended because its room is not open: clients need time to join, also after a restart.
    static let joinTimeout = Duration.seconds(120)
    private static let reapInterval = Duration.seconds(30)
    private static let summaryInterval = Duration.seconds(1)
    private static let expiryInterval = Duration.seconds(3_600)

    private let sessions: SessionService
    private let summarizer: any Summarizer
    private let isAbandoned: @Sendable (_ room: String) async -> Bool
    private let expireStore: @Sendable (WallTime) async throws -> Void
    private let log = Logger(label: "patchbay.sessions")

    /// - Parameters:
    ///   - isAbandoned: whether the session of a room ends (`RoomHomes.isAbandoned`); nil: if the room is not open here.
    ///   - expireStore: deletes what is past its retention.
    init(
        _ sessions: SessionService, _ summarizer: any Summarizer, isAbandoned: (@Sendable (_ room: String) async -> Bool)? = nil,
        expireStore: @escaping @Sendable (WallTime) async throws -> Void
    ) {
        self.isAbandoned = isAbandoned ?? { [rooms = sessions.rooms] in !rooms.roomIsOpen(named: $0) }
        self.sessions = sessions
        self.summarizer = summarizer
        self.expireStore = expireStore
    }

    /// Runs until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                do { try await Task.sleep(for: Self.joinTimeout) } catch { return }
                await every(Self.reapInterval, endAbandonedSessions)
            }
            group.addTask { await every(Self.summaryInterval, summarize) }
            group.addTask { await every(Self.expiryInterval, expire) }
        }
    }

    private func every(_ interval: Duration, _ body: () async throws -> Void) async {
        while !Task.isCancelled {
            do {
                try await body()
            } catch is CancellationError {
                return
            } catch StoreError.unreachable {
                // The store itself logs the beginning and the end of an outage.
            } catch {
                log.error("maintenance failed and will be repeated", metadata: ["error": "\(error)"])
            }
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }

    /// After a crash, or when nobody joined.
    private func endAbandonedSessions() async throws {
        let latest = WallTime(milliseconds: WallClock.milliseconds - Self.joinTimeout.inMilliseconds)
        for session in try await sessions.store.openSessions(startedBefore: latest) where await isAbandoned(session.roomName) {
            do {
                try await sessions.end(session.id, of: session.userID)
            } catch StoreError.superseded {
                // Its room goes on at another node.
            } catch let error as HTTPError where error.node != nil {
                // It has just been joined there.
            }
        }
        sessions.sessionRooms.removeEnded(before: latest)
    }

    private func summarize() async throws {
        let worker = SummaryWorker(store: sessions.store, summarizer: summarizer) { [webhooks = sessions.webhooks] session, summary in
            webhooks.webhooks(for: summary, of: session, at: .now)
        }
        while true {
            switch try await worker.runNext(now: { .now }) {
            case .idle: return
            case .stored(let session, let user, let isFirst):
                if let session = try? await sessions.store.session(session, of: user) {
                    sessions.tell(user, SessionEvent(.summaryReady, session))
                    // A corrected summary causes no second push.
                    if isFirst { sessions.push(PushRequest(of: session, at: .now)) }
                }
                await sessions.updateBriefings(of: user)
            case .skipped: continue
            }
        }
    }

    private func expire() async throws {
        try await expireStore(.now)
        for user in sessions.sessionRooms.users { await sessions.updateBriefingsHere(of: user) }
        try await sessions.recordings?.removeOrphaned()
    }
}
