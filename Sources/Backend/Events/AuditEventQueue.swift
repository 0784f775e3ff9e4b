package import Engine
package import HTTPServer
internal import Store
internal import Synchronization
package import Wire

/// A bounded queue of audit events from the shards, and of services' writes about rooms, to a single reader.
///
/// When the queue is full, new events are dropped, and the reader gets a `missing` item in their position, so that it can reconcile its
/// state (`RoomService.rooms()`). Appending never blocks a shard.
///
/// Events and writes of one room are in order, and so are the webhooks that report them. Those of different rooms are not ordered.
///
/// In a cluster, each has the epoch in which this node hosted the room when it was appended.
package final class AuditEventQueue: Sendable {
    package enum Item: Sendable, Hashable {
        case event(RoomAuditEvent)
        case write(RoomWrite, RoomEpoch?)
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

    let state: Mutex<AuditEventBacklog>
    /// The reporting and recording settings of a room. Called by the shard that creates the room; must not block.
    package let reporting: @Sendable (_ room: String) -> RoomReporting
    /// Why a participant may not join a room; nil if it may. Called for every join.
    package let joinError: @Sendable (_ room: String, Identity) -> HTTPError?
    /// The briefing for assistants in a room. Called for every join.
    package let briefing: @Sendable (_ room: String) -> SessionBriefing?
    private let epoch: (@Sendable (_ room: String) -> RoomEpoch?)?
    /// Called synchronously with every event, including dropped ones, after it was appended. Must not block.
    private let observer: @Sendable (RoomAuditEvent) -> Void

    /// - Parameters:
    ///   - countMax: maximum number of queued events.
    ///   - bytesMax: maximum bytes of text in queued events.
    ///   - writesMax: maximum number of queued writes.
    ///   - epoch: the epoch in which this node hosts a room (`RoomHomes.epoch`); nil without a cluster. Called with every event and write,
    ///     within a lock.
    package init(
        countMax: Int = 10_000, bytesMax: Int = 32 << 20, writesMax: Int = 10_000,
        reporting: @escaping @Sendable (_ room: String) -> RoomReporting = { _ in .events },
        joinError: @escaping @Sendable (_ room: String, Identity) -> HTTPError? = { _, _ in nil },
        briefing: @escaping @Sendable (_ room: String) -> SessionBriefing? = { _ in nil },
        epoch: (@Sendable (_ room: String) -> RoomEpoch?)? = nil,
        observer: @escaping @Sendable (RoomAuditEvent) -> Void = { _ in }
    ) {
        state = Mutex(AuditEventBacklog(countMax: countMax, bytesMax: bytesMax, writesMax: writesMax))
        self.reporting = reporting
        self.joinError = joinError
        self.briefing = briefing
        self.epoch = epoch
        self.observer = observer
    }

    /// Number of queued events and writes.
    package var count: Int { state.withLock { $0.items.count } }
    /// Whether events without an epoch are refused.
    var isInCluster: Bool { epoch != nil }

    /// The epoch in which this node hosts a room at present; nil without a cluster.
    func epoch(of room: String) -> RoomEpoch? { epoch?(room) }

    @discardableResult
    package func append(_ event: RoomAuditEvent) -> Outcome {
        let (outcome, reader) = state.withLock { state -> (Outcome, CheckedContinuation<Void, Never>?) in
            guard state.hasRoom(for: event) else { return (.refused(isFirst: state.noteMissing(event)), nil) }
            var event = event
            // Under the lock, so that the epochs of a room's items ascend.
            event.epoch = epoch(of: event.room.info.name)
            state.append(event)
            return (.taken, state.takeReader())
        }
        reader?.resume()
        // After the event, so that whatever an observer appends because of it follows it.
        observer(event)
        return outcome
    }

    /// Adds a source, besides the gateway, that calls `finish()` after its last write.
    func addSource() {
        state.withLock { $0.openSources += 1 }
    }

    /// Called by each source. After the last one, further events are rejected; queued ones can still be read.
    package func finish() {
        let reader = state.withLock { state in
            state.openSources -= 1
            return state.isFinished ? state.takeReader() : nil
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
    /// The epoch in which this node hosted the room; nil without a cluster.
    package var epoch: RoomEpoch?

    package init(_ event: Event, room: Room.Snapshot, at: Int64) {
        self.event = event
        self.room = room
        self.at = at
    }

    /// Converts a time relative to the event to milliseconds since 1970.
    package func time(of offset: Duration) -> Int64 { at + offset.inMilliseconds }
}
