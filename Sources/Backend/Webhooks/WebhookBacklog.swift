internal import Logging
package import Store
internal import Wire

/// A bounded queue of announcements to the store, so that producers do not wait for a disk.
package struct WebhookBacklog: Sendable {
    private let store: SessionStore
    private let announcements: AsyncStream<Announcement>
    private let continuation: AsyncStream<Announcement>.Continuation
    private let log = Logger(label: "patchbay.calls")

    /// - Parameter batchesMax: maximum number of queued announcements. Beyond it new ones are dropped and logged.
    package init(store: SessionStore, batchesMax: Int) {
        self.store = store
        (announcements, continuation) = AsyncStream.makeStream(of: Announcement.self, bufferingPolicy: .bufferingOldest(batchesMax))
    }

    package func append(_ announcement: Announcement) {
        guard !announcement.webhooks.isEmpty else { return }
        if case .dropped = continuation.yield(announcement) { log.error("webhooks of a call were dropped; the store was too slow") }
    }

    package func finish() { continuation.finish() }

    /// Writes until `finish()` is called and the queue is empty, or the task is cancelled.
    package func run() async {
        for await announcement in announcements { await write(announcement) }
    }

    private func write(_ announcement: Announcement) async {
        do {
            try await StoreError.retryingWhileUnavailable { try await store.announce(announcement, at: .now) }
        } catch {
            log.error("webhooks of a call were lost", metadata: ["error": "\(error)"])
        }
    }
}
