package import Engine
package import HTTPServer
internal import Synchronization
package import Wire

/// What happens in rooms on its way from the shards to whoever keeps records of it. One reader; it deals out what it reads.
///
/// Its policy: what has come stays. Beyond the limits what comes is not taken, and where it would have stood the reader is told how much is
/// missing and of which rooms, so that nothing is lost silently and what there is can be put right (`Gateway.openRooms()`). A shard never
/// waits.
///
/// The events of one room come in the order in which they happened; those of several rooms in any.
package final class AuditEventQueue: Sendable {
    package enum Item: Sendable, Hashable {
        case event(RoomAuditEvent)
        /// So many were not taken, of these rooms and perhaps, if there are `roomsNamedMax` of them, of others.
        case missing(count: Int, rooms: [String])
    }

    package enum Outcome: Sendable, Hashable {
        case taken
        /// `isFirst` of those that are missing since the reader last kept up.
        case refused(isFirst: Bool)
    }

    /// Rooms of which it is remembered that events are missing.
    package static let roomsNamedMax = 1_000

    private let state = Mutex(AuditEventBacklog())
    private let countMax: Int
    private let bytesMax: Int
    /// What is to be told and recorded of a room of that name, asked by the shard that makes it: it must answer at once.
    package let reporting: @Sendable (_ room: String) -> RoomReporting
    /// Why somebody may not join a room of that name, asked of everybody who wants to; nil if it may.
    package let joinError: @Sendable (_ room: String, Identity) -> HTTPError?
    /// What assistants are told who join a room of that name, asked of everybody who wants to join.
    package let briefing: @Sendable (_ room: String) -> SessionBriefing?
    /// Told of every event at once, whatever waits: for who must not wait for the one who keeps records. It must return at once.
    private let observer: @Sendable (RoomAuditEvent) -> Void

    /// - Parameters:
    ///   - countMax: events that may wait.
    ///   - bytesMax: bytes of text that may wait in them.
    package init(
        countMax: Int = 10_000, bytesMax: Int = 32 << 20, reporting: @escaping @Sendable (_ room: String) -> RoomReporting = { _ in .events },
        joinError: @escaping @Sendable (_ room: String, Identity) -> HTTPError? = { _, _ in nil },
        briefing: @escaping @Sendable (_ room: String) -> SessionBriefing? = { _ in nil },
        observer: @escaping @Sendable (RoomAuditEvent) -> Void = { _ in }
    ) {
        self.countMax = countMax
        self.bytesMax = bytesMax
        self.reporting = reporting
        self.joinError = joinError
        self.briefing = briefing
        self.observer = observer
    }

    /// Events that wait.
    package var count: Int { state.withLock { $0.items.count } }

    @discardableResult
    package func append(_ event: RoomAuditEvent) -> Outcome {
        observer(event)
        let (outcome, reader) = state.withLock { state -> (Outcome, CheckedContinuation<Void, Never>?) in
            guard state.items.count < countMax, state.bytes + event.byteCount <= bytesMax, !state.isFinished else {
                state.noteMissing(event)
                return (.refused(isFirst: state.missing == 1), nil)
            }
            state.append(event)
            return (.taken, state.takeReader())
        }
        reader?.resume()
        return outcome
    }

    /// No more will come. What waits can still be read.
    package func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Waits until something is there, and takes it: in batches, so that a store may write them in one transaction.
    ///
    /// - Returns: 1 to `limit` items in their order; nil at the end, or when the task is cancelled.
    package func next(upTo limit: Int) async -> [Item]? {
        while !Task.isCancelled {
            let (items, isFinished) = state.withLock { ($0.take(upTo: limit), $0.isFinished) }
            if !items.isEmpty { return items }
            if isFinished { return nil }
            await waitForMore()
        }
        return nil
    }

    private func waitForMore() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayGoOn = state.withLock { state in
                    guard state.isEmpty, !state.isFinished, !Task.isCancelled else { return true }
                    precondition(state.reader == nil, "a event queue has one reader; let it deal out what it reads")
                    state.reader = continuation
                    return false
                }
                if mayGoOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeReader() }?.resume()
        }
    }
}

extension AuditEventQueue: AsyncSequence {
    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let queue: AuditEventQueue

        package mutating func next() async -> Item? { await queue.next(upTo: 1)?.first }
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(queue: self) }
}
