internal import Engine
internal import Logging
internal import Store
internal import Synchronization
internal import Wire

/// Stores and announces the changes of calls, in the order of their occurrence and with the events of the calls' rooms: webhooks, the
/// histories of users, and who is talking in a conversation.
struct CallRecords {
    private let auditEvents: AuditEventQueue
    private let webhookStore: Webhooks
    private let collaborators: CallCollaborators
    private var history = CallHistory()
    private var conversations = ConversationAudio()
    private let refusals = Refusals()
    private let log = Logger(label: "patchbay.calls")

    init(auditEvents: AuditEventQueue, webhookStore: Webhooks, collaborators: CallCollaborators) {
        self.auditEvents = auditEvents
        self.webhookStore = webhookStore
        self.collaborators = collaborators
        auditEvents.addSource()
    }

    /// Continues with calls that another node has left, or with none.
    mutating func begin(with stored: [CallInfo]) {
        (history, conversations) = (CallHistory(continuing: stored), ConversationAudio(continuing: stored))
    }

    mutating func note(_ record: CallRecord, at now: WallTime) {
        collaborators.operatorLog.changed(record)
        var announcement = collaborators.announcement(record)
        announcement.call = history.note(record, at: now)
        announcement.audio = conversations.note(record)
        store(announcement, record)
    }

    private func store(_ announcement: Announcement, _ record: CallRecord) {
        guard !announcement.isEmpty else { return }
        let (webhookStore, events, outlet, refusals, log) = (webhookStore, auditEvents, collaborators.conversations, refusals, log)
        let refused = { @Sendable in if record.change == .call(.started) { refusals.note(record.call.id) } }
        let isTaken = events.append(
            RoomWrite(collaborators.writesAs ?? record.call.room, refused: refused) { fence in
                do {
                    try await events.persisting {
                        try await webhookStore.announce(announcement, telling: outlet, fencedBy: fence, at: .now)
                    }
                } catch StoreError.superseded(let number) {
                    throw StoreError.superseded(byNumber: number)
                } catch {
                    log.error("webhooks or the history of a call were lost", metadata: ["error": "\(error)"])
                }
            })
        if !isTaken { log.error("webhooks or the history of a call were dropped; the store was too slow") }
    }

    /// Waits until what was written about the calls of these rooms is stored, at most for `CallCollaborators.storeWaitMax`.
    func settle(_ rooms: [String]) async {
        await auditEvents.settle(collaborators.writesAs.map { [$0] } ?? rooms, within: collaborators.storeWaitMax)
    }

    /// Whether the start of the call was not stored, because another node serves calls. Call when `settle` has returned.
    func isRefused(_ call: CallID) -> Bool { refusals.contains(call) }

    /// No more changes follow.
    func finish() { auditEvents.finish() }
}

/// The latest calls whose start was refused. Beyond the limits, the oldest are forgotten: they were answered long ago.
private final class Refusals: Sendable {
    private let calls = Mutex(RecentTable<CallID, Bool>(keeping: 10_000, for: .seconds(120)))

    func note(_ call: CallID) {
        calls.withLock { calls in
            _ = calls.advance(to: .now)
            calls[call] = true
        }
    }

    func contains(_ call: CallID) -> Bool { calls.withLock { $0[call] ?? false } }
}
