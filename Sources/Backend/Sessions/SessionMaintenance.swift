internal import Logging
internal import Store
internal import Wire

/// Periodic work: ends sessions whose room is gone, makes summaries, and deletes what has passed its retention.
struct SessionMaintenance: Sendable {
    /// How old a session must be to be ended because its room is not open: clients need time to join, also after a restart.
    static let joinTimeout = Duration.seconds(120)
    private static let reapInterval = Duration.seconds(30)
    private static let summaryInterval = Duration.seconds(1)
    private static let expiryInterval = Duration.seconds(3_600)
    /// A summary that takes longer is started again.
    private static let summaryLease = Duration.seconds(120)
    /// Of failed summaries: 1, 2, 4, … minutes, without jitter, for one task makes them all.
    private static let summaryBackoff = (min: Duration.seconds(60), doublingsMax: 8)

    private let sessions: SessionService
    private let summarizer: any Summarizer
    private let log = Logger(label: "patchbay.sessions")

    init(_ sessions: SessionService, _ summarizer: any Summarizer) {
        self.sessions = sessions
        self.summarizer = summarizer
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
            } catch {
                log.error("maintenance failed and will be repeated", metadata: ["error": "\(error)"])
            }
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }

    /// After a crash, or when nobody joined.
    private func endAbandonedSessions() async throws {
        let latest = WallTime(milliseconds: WallClock.milliseconds - Self.joinTimeout.inMilliseconds)
        for session in try await sessions.store.openSessions(startedBefore: latest)
        where !sessions.rooms.roomIsOpen(named: session.roomName) {
            try await sessions.end(session.id, of: session.userID)
        }
        sessions.sessionRooms.forgetEnded(before: latest)
    }

    private func summarize() async throws {
        let store = sessions.store
        while let job = try await store.lease(.summary, for: Self.summaryLease, at: .now) {
            guard let user = job.userID, let id = SessionID(text: job.subject) else {
                _ = try await store.finish(job)
                continue
            }
            do {
                let record = try await store.record(of: id, of: user)
                let content = try await summarizer.summary(of: record.session, turns: record.turns)
                _ = try await store.saveSummary(
                    content, for: id, of: user, finishing: job,
                    telling: { [webhooks = sessions.webhooks] in webhooks.webhooks(for: $0, of: record.session, at: .now) }, at: .now)
                await sessions.updateBriefings(of: user)
            } catch StoreError.notFound {
                _ = try await store.finish(job)
            } catch {
                let pause = Self.summaryBackoff.min * (1 << min(job.attempts - 1, Self.summaryBackoff.doublingsMax))
                _ = try await store.retry(job, due: .now + pause, reason: "\(type(of: error))", at: .now)
            }
        }
    }

    private func expire() async throws {
        _ = try await sessions.store.expire(at: .now)
        for user in sessions.sessionRooms.users { await sessions.updateBriefings(of: user) }
        try await sessions.recordings?.removeUnwanted()
    }
}
