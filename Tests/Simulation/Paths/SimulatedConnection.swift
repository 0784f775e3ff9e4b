internal import DequeModule
internal import Engine
internal import Wire

/// One connection: both sockets and the path between them with its buffers.
///
/// The downlink models TCP as a sender sees it: a send buffer that fills while the peer's receive buffer is full or the path is slow or
/// clogged, and bytes that the peer's kernel acknowledges before the peer reads them.
final class SimulatedConnection {
    enum Phase { case connecting, open, closing, closed }

    let number: Int
    let shard: Int
    unowned let world: World
    /// The peer at the other end.
    let session: PeerSession

    // Gateway side.
    var slot = -1
    var phase = Phase.connecting
    var openedAt = Instant(nanoseconds: 0)
    var peerCloseCode: UInt16?
    var closeReason: CloseReason?
    var closeDeadline = Instant(nanoseconds: 0)
    var wantsWritable = false
    /// Messages received but not yet read by the shard.
    var inbox: Deque<SocketMessage> = []
    var isReadable = false

    // Downlink.
    var latency: Duration
    var jitter: Duration
    var bytesPerSecond: Int
    var sendBuffer: Int
    var receiveBuffer: Int
    var unsent: Deque<SocketMessage> = []
    private var unsentBytes = 0
    var flying: Deque<SocketMessage> = []
    private var flyingBytes = 0
    var unread: Deque<SocketMessage> = []
    private var unreadBytes = 0
    /// Bytes that arrived, and when their acknowledgement reaches the sender.
    private var acknowledgements: Deque<(at: Instant, bytes: Int)> = []
    private var acknowledgedSoonBytes = 0
    private var freeAt = Instant(nanoseconds: 0)
    private var lastArrival = Instant(nanoseconds: 0)
    private var isDepartingLater = false
    var downClogUntil = Instant(nanoseconds: 0)

    // Uplink.
    var up: Deque<SocketMessage> = []
    private var lastReach = Instant(nanoseconds: 0)
    var upClogUntil = Instant(nanoseconds: 0)

    // Peer side.
    /// The peer no longer sends or reads.
    var isPeerGone = false
    var readsAgainAt = Instant(nanoseconds: 0)
    var readingPause: Duration = .zero
    private var isReadingLater = false

    /// Frames forwarded to this subscriber, by track, oldest first.
    var handed: [UInt16: Deque<Handed>] = [:]

    struct Handed {
        let frame: Int
        let at: Instant
        /// Whether the gateway dropped and counted it.
        var isDropped = false
    }

    init(number: Int, shard: Int, session: PeerSession, world: World, swarm: Swarm) {
        self.number = number
        self.shard = shard
        self.session = session
        self.world = world
        latency = swarm.latency
        jitter = swarm.jitter
        bytesPerSecond = swarm.bytesPerSecond
        sendBuffer = swarm.sendBuffer
        receiveBuffer = swarm.receiveBuffer
    }

    // MARK: Gateway side

    var wasClosedByPeer: Bool { peerCloseCode == 1000 || peerCloseCode == 1001 }

    /// Whether the socket still buffers bytes of an earlier write.
    var isCongested: Bool { unacknowledgedBytesInAll > sendBuffer }

    /// As reported by SIOCOUTQ.
    var unacknowledgedBytes: Int? { phase == .open || phase == .closing ? min(unacknowledgedBytesInAll, sendBuffer) : nil }

    private var unacknowledgedBytesInAll: Int {
        while let first = acknowledgements.first, first.at <= world.now {
            acknowledgedSoonBytes -= first.bytes
            acknowledgements.removeFirst()
        }
        return unsentBytes + flyingBytes + acknowledgedSoonBytes
    }

    func write(_ message: SocketMessage) {
        guard phase == .open || phase == .closing else { return }
        unsent.append(message)
        unsentBytes += message.size
        transmit()
    }

    func requestWritable() {
        wantsWritable = true
        notifyWritable()
    }

    func close(_ reason: CloseReason) {
        guard phase != .closed, closeReason == nil else { return }
        closeReason = reason
        phase = .closing
        closeDeadline = world.now + .seconds(1)
        world.schedule.add(.closes(connection: number), at: world.now)
    }

    // MARK: Downlink

    /// Transmits buffered messages as far as the path and the peer's receive buffer allow.
    func transmit() {
        while let first = unsent.first {
            let size = first.size
            let departs = max(world.now, freeAt, downClogUntil)
            guard departs - world.now < .milliseconds(20) else {
                if !isDepartingLater {
                    isDepartingLater = true
                    world.schedule.add(.departs(connection: number), at: departs)
                }
                return
            }
            guard flyingBytes + unreadBytes + size <= receiveBuffer || flyingBytes + unreadBytes == 0 else { return }
            unsent.removeFirst()
            unsentBytes -= size
            flying.append(first)
            flyingBytes += size
            freeAt = departs + .nanoseconds(Int64(size) * 1_000_000_000 / Int64(bytesPerSecond))
            lastArrival = max(lastArrival, freeAt + latency + world.draw(upTo: jitter))
            world.schedule.add(.arrives(connection: number), at: lastArrival)
        }
    }

    func departAgain() {
        isDepartingLater = false
        transmit()
    }

    func arrive() {
        // A peer that is gone acknowledges nothing.
        guard !isPeerGone, let message = flying.popFirst() else { return }
        flyingBytes -= message.size
        acknowledgements.append((world.now + latency, message.size))
        acknowledgedSoonBytes += message.size
        unread.append(message)
        unreadBytes += message.size
        notifyWritable()
        read()
    }

    private func notifyWritable() {
        guard wantsWritable, phase != .closed else { return }
        let due = isCongested ? acknowledgements.last?.at : world.now
        if let due { world.schedule.add(.writable(connection: number), at: due) }
    }

    /// The peer reads received messages unless it is frozen.
    func read() {
        guard !isReadingLater else { return }
        while !isPeerGone {
            guard world.now >= readsAgainAt else {
                isReadingLater = true
                world.schedule.add(.reads(connection: number), at: readsAgainAt)
                return
            }
            guard let message = unread.popFirst() else { return }
            unreadBytes -= message.size
            if readingPause > .zero { readsAgainAt = world.now + readingPause }
            transmit()
            session.take(message)
        }
    }

    func readAgain() {
        isReadingLater = false
        read()
    }

    // MARK: Uplink

    /// Sends a message from the peer.
    func send(_ message: SocketMessage) {
        guard !isPeerGone else { return }
        up.append(message)
        lastReach = max(lastReach, max(world.now, upClogUntil) + latency + world.draw(upTo: jitter))
        world.schedule.add(.reaches(connection: number), at: lastReach)
    }

    func reach() {
        guard let message = up.popFirst(), phase != .closed else { return }
        if case .broken = message { inbox.removeAll() }
        inbox.append(message)
        world.shards[shard].becameReadable(self)
    }

    /// Disconnects the peer, either with a reset, which may overtake messages in flight, or silently.
    func disconnect(isReset: Bool) {
        guard !isPeerGone else { return }
        if isReset {
            while !up.isEmpty, world.random.chance(0.5) { up.removeLast() }
            send(.broken)
        } else {
            up.removeAll()
        }
        isPeerGone = true
    }

    /// Ends all faults of the path and the peer.
    func heal() {
        latency = min(latency, .milliseconds(20))
        jitter = .zero
        bytesPerSecond = max(bytesPerSecond, 1_000_000)
        sendBuffer = max(sendBuffer, 64 * 1_024)
        receiveBuffer = max(receiveBuffer, 64 * 1_024)
        downClogUntil = world.now
        freeAt = world.now
        isDepartingLater = false
        upClogUntil = world.now
        lastReach = world.now + latency
        lastArrival = world.now + latency
        // Reschedules the segments in flight; their earlier events then have no effect.
        for _ in flying { world.schedule.add(.arrives(connection: number), at: lastArrival) }
        for _ in up { world.schedule.add(.reaches(connection: number), at: lastReach) }
        readingPause = .zero
        readsAgainAt = world.now
        isReadingLater = false
        transmit()
        read()
    }
}
