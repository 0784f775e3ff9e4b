internal import DequeModule
internal import Engine
internal import Wire

/// Rooms and their sockets on one thread, as `Shard` of the gateway drives the engine: the same calls in the same order, extension by
/// extension. What is left out has no part in any decision: TLS, HTTP, logs.
///
/// Its thread is turns: what has come since the last one is looked at in any order, for no kernel promises one.
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
    var playoutQueueReports: [(publisher: ParticipantHandle, track: TrackSID, fact: Room.PlayoutQueueReport)] = []
    var isTellingFacts = false
    var performing = 0
    var arrivals: [[SimulatedTrunk.Carried]]
    var hasLateArrivals = false
    var store: FrameStore
    var receiptBucket = TokenBucket(perSecond: 250, burst: 50)
    var waiting: [Int] = []
    var participants = 0
    var participantsAway = 0
    var ticks = 0
    var nextTick: Instant?
    var recentLag: Duration = .zero

    // The thread.
    /// libuv's clock: milliseconds, read once a turn.
    var now = World.start
    private var isInTurn = false
    private var isTurnDue = false
    private var pausedUntil = World.start
    private var isWoken = false
    private var signals: [(line: Line, kind: Signal)] = []

    private enum Signal { case opened, readable, writable, closeTimer }

    init(index: Int, world: World) {
        self.index = index
        self.world = world
        arrivals = Array(repeating: [], count: world.swarm.shardCount)
        store = FrameStore(headroom: 0, framesMax: world.swarm.storedFramesMax)
    }

    // MARK: The thread

    /// Does what has come up. Called in the middle of another shard's turn it is that other thread that runs meanwhile.
    func turn() {
        guard !isInTurn else { return }
        isTurnDue = false
        guard world.now >= pausedUntil else { return turnSoon() }
        isInTurn = true
        now = Instant(nanoseconds: world.now.nanoseconds / 1_000_000 * 1_000_000)
        if let nextTick, nextTick <= now { timerRang() }
        var signals = self.signals
        self.signals = []
        world.chance.shuffle(&signals)
        let isMailFirst = world.chance.chance(0.5)
        if isMailFirst { woken() }
        for (line, kind) in signals {
            switch kind {
            case .opened: opened(line)
            case .readable: read(line)
            case .writable: tellWritable(line)
            case .closeTimer: closeTimerRang(line)
            }
        }
        if !isMailFirst { woken() }
        inspect()
        isInTurn = false
    }

    private func woken() {
        guard isWoken else { return }
        isWoken = false
        takeMail()
    }

    private func turnSoon() {
        guard !isTurnDue else { return }
        isTurnDue = true
        world.agenda.add(.turn(shard: index), at: max(world.now + .microseconds(20), pausedUntil))
    }

    /// Two pauses are never one after the other, so that `Swarm.newsDelayMax` holds.
    func pause(for span: Duration) {
        guard world.now >= pausedUntil + .milliseconds(50) else { return }
        world.note("shard \(index) pauses for \(span.inMilliseconds) ms")
        pausedUntil = world.now + span
    }

    func resume() {
        pausedUntil = world.now
        world.agenda.add(.turn(shard: index), at: world.now)
    }

    func becameReadable(_ line: Line) {
        if !line.isReadable {
            line.isReadable = true
            signals.append((line, .readable))
        }
        turnSoon()
    }

    func wasUpgraded(_ line: Line) {
        signals.append((line, .opened))
        turnSoon()
    }

    func closeTimerIsDue(_ line: Line) {
        signals.append((line, .closeTimer))
        turnSoon()
    }

    func becameWritable(_ line: Line) {
        guard line.wantsWritable, !line.isCongested, line.phase != .closed else { return }
        line.wantsWritable = false
        signals.append((line, .writable))
        turnSoon()
    }

    /// From another thread: something was posted.
    func wakeSoon() {
        world.agenda.add(.wakes(shard: index), at: world.now + world.draw(upTo: world.swarm.wakeDelay))
    }

    func wake() {
        isWoken = true
        turnSoon()
    }

    // MARK: Sockets

    private func read(_ line: Line) {
        line.isReadable = false
        while let parcel = line.inbox.popFirst() {
            guard line.phase == .open else {
                if case .broken = parcel { closed(line, .lost) }
                continue
            }
            switch parcel {
            case .binary(let bytes): received(binary: bytes, from: line)
            case .text(let bytes): received(text: bytes, from: line)
            case .pong(let number): ponged(number, from: line)
            case .ping: break
            case .close(let code):
                line.peerCloseCode = code
                closed(line, .lost)
            case .broken: closed(line, .lost)
            }
        }
    }

    private func tellWritable(_ line: Line) {
        if line.slot >= 0, let member = slots[line.slot] { pump(member) }
    }

    private func closeTimerRang(_ line: Line) {
        guard line.phase == .closing, let reason = line.closeReason else { return }
        if line.isCongested, world.now < line.closeDeadline {
            world.agenda.add(.closes(line: line.number), at: world.now + .milliseconds(10))
            return
        }
        line.write(.close(reason.code))
        closed(line, .closed(reason))
    }

    enum End {
        case closed(CloseReason)
        case lost
    }

    func closed(_ line: Line, _ end: End) {
        guard line.phase != .closed else { return }
        line.phase = .closed
        line.inbox.removeAll()
        memberClosed(line, end)
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

    /// Queues within their limits, after every turn.
    private func inspect() {
        for case let member? in slots {
            world.expect(
                member.outbox.frameCount <= world.swarm.outboxFramesMax, "an outbox holds \(member.outbox.frameCount) frames")
            world.expect(
                member.outbox.controlBytes <= Limits.controlBacklogBytesMax || member.line.phase != .open,
                "\(member.outbox.controlBytes) bytes of control wait for a listener that is not closed")
        }
        world.expect(store.heldCount <= world.swarm.storedFramesMax, "a store holds \(store.heldCount) frames")
        let queued = slots.reduce(0) { $0 + ($1?.outbox.frameCount ?? 0) }
        world.expect(store.heldCount <= queued, "a store holds \(store.heldCount) frames for \(queued) that wait")
        world.expect(queued == 0 || store.heldCount > 0, "\(queued) frames wait and none is stored")
    }
}
