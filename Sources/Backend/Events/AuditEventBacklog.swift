internal import DequeModule
internal import Engine
internal import Store
internal import Wire

/// The queued events of an `AuditEventQueue`, and who waits for them.
struct AuditEventBacklog {
    private let limits: Limits
    private(set) var items: Deque<AuditEventQueue.Item> = []
    /// Bytes of text in all items.
    private var bytes = 0
    /// Room writes among the items.
    private var writeCount = 0
    private var missing = MissingEvents()
    /// Sources that have not finished: the gateway, and services that append writes.
    var openSources = 1
    var reader: CheckedContinuation<Void, Never>?
    /// Called when the store is unavailable.
    private var waiters: [UInt64: @Sendable (StoreError) -> Void] = [:]
    private var lastWaiter: UInt64 = 0

    /// See `AuditEventQueue.init`.
    private struct Limits {
        let countMax: Int
        let bytesMax: Int
        let writesMax: Int
    }

    init(countMax: Int, bytesMax: Int, writesMax: Int) {
        limits = Limits(countMax: countMax, bytesMax: bytesMax, writesMax: writesMax)
    }

    var isEmpty: Bool { items.isEmpty && missing.count == 0 }
    var isFinished: Bool { openSources <= 0 }

    func hasRoom(for event: RoomAuditEvent) -> Bool {
        items.count - writeCount < limits.countMax && bytes + event.byteCount <= limits.bytesMax && !isFinished
    }

    var hasRoomForWrite: Bool { writeCount < limits.writesMax && !isFinished }

    /// Appends the event, after an item for any events dropped before it.
    mutating func append(_ event: RoomAuditEvent) {
        appendMissing()
        bytes += event.byteCount
        items.append(.event(event))
    }

    mutating func append(_ write: RoomWrite, _ epoch: RoomEpoch?) {
        appendMissing()
        writeCount += 1
        items.append(.write(write, epoch))
    }

    /// Notes that an event was dropped.
    ///
    /// - Returns: whether it is the first one since the reader last caught up.
    mutating func noteMissing(_ event: RoomAuditEvent) -> Bool {
        missing.add(event.room.info.name)
        return missing.count == 1
    }

    mutating func take(upTo limit: Int) -> [AuditEventQueue.Item] {
        if items.count < limit { appendMissing() }
        let taken = Array(items.prefix(limit))
        items.removeFirst(taken.count)
        for item in taken {
            switch item {
            case .event(let event): bytes -= event.byteCount
            case .write: writeCount -= 1
            case .missing: break
            }
        }
        return taken
    }

    mutating func addWaiter(_ waiter: @escaping @Sendable (StoreError) -> Void) -> UInt64 {
        lastWaiter += 1
        waiters[lastWaiter] = waiter
        return lastWaiter
    }

    mutating func removeWaiter(_ number: UInt64) {
        waiters[number] = nil
    }

    mutating func takeWaiters() -> [@Sendable (StoreError) -> Void] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }

    mutating func takeReader() -> CheckedContinuation<Void, Never>? {
        defer { reader = nil }
        return reader
    }

    private mutating func appendMissing() {
        guard missing.count > 0 else { return }
        items.append(.missing(count: missing.count, rooms: missing.rooms))
        missing = MissingEvents()
    }
}

/// The events that were dropped after the last queued item.
private struct MissingEvents {
    private(set) var count = 0
    /// Rooms with missing events, ordered by the first one.
    private(set) var rooms: [String] = []
    private var seen: Set<String> = []

    mutating func add(_ room: String) {
        count += 1
        if rooms.count < AuditEventQueue.roomsNamedMax, seen.insert(room).inserted { rooms.append(room) }
    }
}

extension RoomAuditEvent {
    /// The size of the parts whose length clients control, in bytes.
    var byteCount: Int {
        switch event {
        case .room(.transcribed(let said)): said.segment.text.utf8.count
        case .room(.typed(let typed)): typed.text.utf8.count
        case .room(.joined(let info, _)), .room(.left(let info, _, _)), .room(.aborted(let info, _, _)):
            info.metadata.utf8.count + info.attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        default: 0
        }
    }
}
