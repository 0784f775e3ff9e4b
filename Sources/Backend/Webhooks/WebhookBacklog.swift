internal import Logging
package import Store
internal import Wire

/// A bounded queue of announcements to the store, so that producers do not wait for a disk.
package struct WebhookBacklog: Sendable {
    private enum Item: Sendable {
        case announcement(Announcement)
        /// Ends the stream of somebody who waits for the items before.
        case mark(AsyncStream<Never>.Continuation)
    }

    private let store: SessionStore
    private let items: AsyncStream<Item>
    private let continuation: AsyncStream<Item>.Continuation
    private let log = Logger(label: "patchbay.calls")

    /// - Parameter batchesMax: maximum number of queued announcements. Beyond it new ones are dropped and logged.
    package init(store: SessionStore, batchesMax: Int) {
        self.store = store
        (items, continuation) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingOldest(batchesMax))
    }

    package func append(_ announcement: Announcement) {
        guard !announcement.webhooks.isEmpty || announcement.call != nil else { return }
        if case .dropped = continuation.yield(.announcement(announcement)) {
            log.error("webhooks or the history of a call were dropped; the store was too slow")
        }
    }

    /// Waits until everything appended before is stored, at most for `span`: a store that is slow or full must not stop calls.
    package func settle(within span: Duration) async {
        let (stored, mark) = AsyncStream.makeStream(of: Never.self)
        guard case .enqueued = continuation.yield(.mark(mark)) else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in stored {} }
            group.addTask { try? await Task.sleep(for: span) }
            await group.next()
            group.cancelAll()
        }
    }

    package func finish() { continuation.finish() }

    /// Writes until `finish()` is called and the queue is empty. If the task is cancelled, what is left is lost.
    package func run() async {
        var lost = 0
        defer {
            if lost > 0 {
                log.error(
                    "webhooks or the history of calls were lost; the gateway was stopping", metadata: ["announcements": "\(lost)"])
            }
        }
        for await item in items {
            switch item {
            case .announcement where Task.isCancelled: lost += 1
            case .announcement(let announcement): await write(announcement)
            case .mark(let mark): mark.finish()
            }
        }
    }

    private func write(_ announcement: Announcement) async {
        do {
            try await StoreError.retryingWhileUnavailable { try await store.announce(announcement, at: .now) }
        } catch {
            log.error("webhooks or the history of a call were lost", metadata: ["error": "\(error)"])
        }
    }
}
