package import Engine
package import HTTPServer
internal import Synchronization
package import Wire

/// A bounded queue of audit events from the shards to a single reader.
///
/// When the queue is full, new events are dropped, and the reader gets a `missing` item in their position, so that it can reconcile its
/// state (`RoomService.openRooms()`). Appending never blocks a shard.
///
/// Events of one room are in order. Events of different rooms are not ordered.
package final class AuditEventQueue: Sendable {
    package enum Item: Sendable, Hashable {
        case event(RoomAuditEvent)
        /// Events that were dropped, and their rooms. The list is incomplete if it has `roomsNamedMax` entries.
        case missing(count: Int, rooms: [String])
    }

    package enum Outcome: Sendable, Hashable {
        case taken
        /// `isFirst`: the first dropped event since the reader last caught up.
        case refused(isFirst: Bool)
    }

    /// Maximum number of rooms listed in a `missing` item.
    package static let roomsNamedMax = 1_000

    private let state = Mutex(AuditEventBacklog())
    private let countMax: Int
    private let bytesMax: Int
    /// The reporting and recording settings of a room. Called by the shard that creates the room; must not block.
    package let reporting: @Sendable (_ room: String) -> RoomReporting
    /// Why a participant may not join a room; nil if it may. Called for every join.
    package let joinError: @Sendable (_ room: String, Identity) -> HTTPError?
    /// The briefing for assistants in a room. Called for every join.
    package let briefing: @Sendable (_ room: String) -> SessionBriefing?
    /// Called synchronously with every event, including dropped ones. Must not block.
    private let observer: @Sendable (RoomAuditEvent) -> Void

    /// - Parameters:
    ///   - countMax: maximum number of queued events.
    ///   - bytesMax: maximum bytes of text in queued events.
    package init(
        countMax: Int = 10_000, bytesMax: Int = 32 << 20,
        reporting: @escaping @Sendable (_ room: String) -> RoomReporting = { _ in .events },
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

    /// Number of queued events.
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

    /// Rejects further events. Queued events can still be read.
    package func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Waits for events and removes a batch, which a store can write in one transaction.
    ///
    /// - Returns: 1 to `limit` items in order; nil at the end or when the task is cancelled.
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
                let isReady = state.withLock { state in
                    guard state.isEmpty, !state.isFinished, !Task.isCancelled else { return true }
                    precondition(state.reader == nil, "an audit event queue has a single reader")
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
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

/// An event in a room, as reported to services.
package struct RoomAuditEvent: Sendable, Hashable {
    package enum Event: Sendable, Hashable {
        case room(Room.AuditEvent)
        /// A track's recording has ended; its file is closed.
        case recorded(RecordedFile)
    }

    package var event: Event
    /// The room at the time of the event.
    package var room: Room.Snapshot
    /// Milliseconds since 1970.
    package var at: Int64

    package init(_ event: Event, room: Room.Snapshot, at: Int64) {
        self.event = event
        self.room = room
        self.at = at
    }

    /// Converts a time relative to the event to milliseconds since 1970.
    package func time(of offset: Duration) -> Int64 { at + offset.inMilliseconds }
}
