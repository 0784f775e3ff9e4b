internal import DequeModule
internal import Engine
internal import Wire

/// One thread with rooms and connections. It makes the same engine calls in the same order as the gateway's `Shard`, and omits what
/// affects no decision: TLS, HTTP, logs.
///
/// Its thread runs in turns. Each turn processes all pending inputs in random order, because the kernel guarantees none.
final class SimulatedShard {
    let index: Int
    unowned let world: World

    var slots: [SimulatedMember?] = []
    var generations: [UInt16] = []
    var freeSlots: [Int] = []

    var rooms: [HostedRoom?] = []
    var freeRooms: [Int] = []
    var roomByName: [String: Int] = [:]
    var guests: [ParticipantHandle: Int] = [:]

    var panel = PatchPanel()
    var remoteTracks = RemoteTracks()
    var aheads = AheadTracks()
    /// So few that tracks are evicted.
    var earlier = EarlierSpeech(tracksMax: 3)
    var playoutQueueReports: [(publisher: ParticipantHandle, track: TrackSID, queueReport: Room.PlayoutQueueReport)] = []
    var isFlushingReports = false
    var performing = 0
    var arrivals: [[SimulatedTrunk.Frame]]
    var hasLateArrivals = false
    var store: FrameStore
    var probeBucket = TokenBucket(perSecond: 250, burst: 50)
    var waiting: [Int] = []
    var participants = 0
    var participantsAway = 0
    var ticks = 0
    var nextTick: Instant?
    var recentLag: Duration = .zero

    // The thread.
    /// The event loop's clock: milliseconds, read once per turn.
    var now = World.start
    private var isInTurn = false
    private var isTurnDue = false
    private var pausedUntil = World.start
    private var isWoken = false
    private var signals: [(connection: SimulatedConnection, kind: Signal)] = []

    private enum Signal { case opened, readable, writable, closeTimer }

    init(index: Int, world: World) {
        self.index = index
        self.world = world
        arrivals = Array(repeating: [], count: world.swarm.shardCount)
        store = FrameStore(headroom: 0, framesMax: world.swarm.storedFramesMax)
    }

    // MARK: The thread

    /// Processes pending inputs. When called within another shard's turn, the two threads interleave.
    func turn() {
        guard !isInTurn else { return }
        isTurnDue = false
        guard world.now >= pausedUntil else { return turnSoon() }
        isInTurn = true
        now = Instant(nanoseconds: world.now.nanoseconds / 1_000_000 * 1_000_000)
        if let nextTick, nextTick <= now { timerFired() }
        var signals = self.signals
        self.signals = []
        world.random.shuffle(&signals)
        let isMailboxFirst = world.random.chance(0.5)
        if isMailboxFirst { woken() }
        for (connection, kind) in signals {
            switch kind {
            case .opened: opened(connection)
            case .readable: read(connection)
            case .writable: notifyWritable(connection)
            case .closeTimer: closeTimerFired(connection)
            }
        }
        if !isMailboxFirst { woken() }
        inspect()
        isInTurn = false
    }

    private func woken() {
        guard isWoken else { return }
        isWoken = false
        drainMailbox()
    }

    private func turnSoon() {
        guard !isTurnDue else { return }
        isTurnDue = true
        world.schedule.add(.turn(shard: index), at: max(world.now + .microseconds(20), pausedUntil))
    }

    /// Pauses are never consecutive, so that `Swarm.propagationDelayMax` holds.
    func pause(for span: Duration) {
        guard world.now >= pausedUntil + .milliseconds(50) else { return }
        world.log("shard \(index) pauses for \(span.inMilliseconds) ms")
        pausedUntil = world.now + span
    }

    func resume() {
        pausedUntil = world.now
        world.schedule.add(.turn(shard: index), at: world.now)
    }

    func becameReadable(_ connection: SimulatedConnection) {
        if !connection.isReadable {
            connection.isReadable = true
            signals.append((connection, .readable))
        }
        turnSoon()
    }

    func wasUpgraded(_ connection: SimulatedConnection) {
        signals.append((connection, .opened))
        turnSoon()
    }

    func closeTimerIsDue(_ connection: SimulatedConnection) {
        signals.append((connection, .closeTimer))
        turnSoon()
    }

    func becameWritable(_ connection: SimulatedConnection) {
        guard connection.wantsWritable, !connection.isCongested, connection.phase != .closed else { return }
        connection.wantsWritable = false
        signals.append((connection, .writable))
        turnSoon()
    }

    /// Another thread has posted a message.
    func wakeSoon() {
        world.schedule.add(.wakes(shard: index), at: world.now + world.draw(upTo: world.swarm.wakeDelay))
    }

    func wake() {
        isWoken = true
        turnSoon()
    }

    // MARK: Sockets

    private func read(_ connection: SimulatedConnection) {
        connection.isReadable = false
        while let message = connection.inbox.popFirst() {
            guard connection.phase == .open else {
                if case .broken = message { closed(connection, .lost) }
                continue
            }
            switch message {
            case .binary(let bytes): received(binary: bytes, from: connection)
            case .text(let bytes): received(text: bytes, from: connection)
            case .pong(let number): ponged(number, from: connection)
            case .ping: break
            case .close(let code):
                connection.peerCloseCode = code
                closed(connection, .lost)
            case .broken: closed(connection, .lost)
            }
        }
    }

    private func notifyWritable(_ connection: SimulatedConnection) {
        if connection.slot >= 0, let member = slots[connection.slot] { pump(member) }
    }

    private func closeTimerFired(_ connection: SimulatedConnection) {
        guard connection.phase == .closing, let reason = connection.closeReason else { return }
        if connection.isCongested, world.now < connection.closeDeadline {
            world.schedule.add(.closes(connection: connection.number), at: world.now + .milliseconds(10))
            return
        }
        connection.write(.close(reason.code))
        closed(connection, .closed(reason))
    }

    enum End {
        case closed(CloseReason)
        case lost
    }

    func closed(_ connection: SimulatedConnection, _ end: End) {
        guard connection.phase != .closed else { return }
        connection.phase = .closed
        connection.inbox.removeAll()
        memberClosed(connection, end)
    }

    // MARK: Slots

    func member(at handle: ParticipantHandle) -> SimulatedMember? {
        let slot = Int(handle.slot)
        guard handle.shard == index, slot < slots.count, generations[slot] == handle.generation else { return nil }
        return slots[slot]
    }

    func takeSlot() -> ParticipantHandle {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = slots.count
            slots.append(nil)
            generations.append(0)
        }
        return ParticipantHandle(shard: UInt16(index), slot: UInt32(slot), generation: generations[slot])
    }

    func freeSlot(_ handle: ParticipantHandle) {
        let slot = Int(handle.slot)
        slots[slot] = nil
        generations[slot] &+= 1
        freeSlots.append(slot)
    }

    /// Checks queue limits after every turn.
    private func inspect() {
        for case let member? in slots {
            world.expect(
                member.outbox.frameCount <= world.swarm.outboxFramesMax, "an outbox holds \(member.outbox.frameCount) frames")
            world.expect(
                member.outbox.controlBytes <= Limits.controlBacklogBytesMax || member.connection.phase != .open,
                "\(member.outbox.controlBytes) bytes of control messages are queued for a subscriber that is not closed")
        }
        world.expect(store.heldCount <= world.swarm.storedFramesMax, "a store holds \(store.heldCount) frames")
        let queued = slots.reduce(0) { $0 + ($1?.outbox.frameCount ?? 0) }
        world.expect(store.heldCount <= queued, "a store holds \(store.heldCount) frames for \(queued) queued ones")
        world.expect(queued == 0 || store.heldCount > 0, "\(queued) frames are queued and none is stored")
    }
}
