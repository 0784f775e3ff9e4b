internal import Engine
internal import Logging
internal import Store
internal import Wire

/// Stores and announces the changes of calls, in the order of their occurrence and with the events of the calls' rooms: webhooks, the
/// histories of users, and who is talking in a conversation.
struct CallRecords {
    private let auditEvents: AuditEventQueue
    private let webhookStore: Webhooks
    private let collaborators: CallCollaborators
    private var history = CallHistory()
    private var conversations = ConversationAudio()
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
        store(announcement, in: record.call.room)
    }

    private func store(_ announcement: Announcement, in room: String) {
        guard !announcement.isEmpty else { return }
        let (webhookStore, events, outlet, log) = (webhookStore, auditEvents, collaborators.conversations, log)
        let isTaken = events.append(
            RoomWrite(collaborators.writesAs ?? room) { fence in
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

    /// No more changes follow.
    func finish() { auditEvents.finish() }
}
