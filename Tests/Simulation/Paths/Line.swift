internal import DequeModule
internal import Engine
internal import Wire

/// One connection: what `Connection` is to a shard, the socket of a peer, and the path between them with its buffers.
///
/// The way down is TCP as a sender sees it: a send buffer that fills up while the peer's receive buffer is full, or while the path is
/// slow or clogged; bytes that are acknowledged by a kernel although nobody reads them.
final class Line {
    enum Phase { case connecting, open, closing, closed }

    let number: Int
    let shard: Int
    unowned let world: World
    /// Who is at the other end.
    let stay: Stay

    // As the gateway sees it.
    var slot = -1
    var phase = Phase.connecting
    var openedAt = Instant(nanoseconds: 0)
    var peerCloseCode: UInt16?
    var closeReason: CloseReason?
    var closeDeadline = Instant(nanoseconds: 0)
    var wantsWritable = false
    /// What has come and was not read by the shard.
    var inbox: Deque<Parcel> = []
    var isReadable = false

    // Down.
    var latency: Duration
    var jitter: Duration
    var bytesPerSecond: Int
    var sendBuffer: Int
    var receiveBuffer: Int
    var unsent: Deque<Parcel> = []
    private var unsentBytes = 0
    var flying: Deque<Parcel> = []
    private var flyingBytes = 0
    var unread: Deque<Parcel> = []
    private var unreadBytes = 0
    /// Arrived, and acknowledged at that instant.
    private var acknowledgements: Deque<(at: Instant, bytes: Int)> = []
    private var acknowledgedSoonBytes = 0
    private var freeAt = Instant(nanoseconds: 0)
    private var lastArrival = Instant(nanoseconds: 0)
    private var isDepartingLater = false
    var downClogUntil = Instant(nanoseconds: 0)

    // Up.
    var up: Deque<Parcel> = []
    private var lastReach = Instant(nanoseconds: 0)
    var upClogUntil = Instant(nanoseconds: 0)

    // The peer.
    /// Nothing of what it does has any effect any more: it is gone.
    var isPeerGone = false
    var readsAgainAt = Instant(nanoseconds: 0)
    var readingPause: Duration = .zero
    private var isReadingLater = false

    /// Frames that were handed to this subscriber, by track; the oldest first.
    var handed: [UInt16: Deque<Handed>] = [:]

    struct Handed {
        let frame: Int
        let at: Instant
        /// The gateway dropped and counted it.
        var isDropped = false
    }

    init(number: Int, shard: Int, stay: Stay, world: World, swarm: Swarm) {
        self.number = number
        self.shard = shard
        self.stay = stay
        self.world = world
        latency = swarm.latency
        jitter = swarm.jitter
        bytesPerSecond = swarm.bytesPerSecond
        sendBuffer = swarm.sendBuffer
        receiveBuffer = swarm.receiveBuffer
    }

    // MARK: What a shard asks of it

    var wasClosedByPeer: Bool { peerCloseCode == 1000 || peerCloseCode == 1001 }

    /// Whether lws still holds bytes of an earlier write.
    var isCongested: Bool { unacknowledgedBytesInAll > sendBuffer }

    /// As SIOCOUTQ tells.
    var unacknowledgedBytes: Int? { phase == .open || phase == .closing ? min(unacknowledgedBytesInAll, sendBuffer) : nil }

    private var unacknowledgedBytesInAll: Int {
        while let first = acknowledgements.first, first.at <= world.now {
            acknowledgedSoonBytes -= first.bytes
            acknowledgements.removeFirst()
        }
        return unsentBytes + flyingBytes + acknowledgedSoonBytes
    }

    func write(_ parcel: Parcel) {
        guard phase == .open || phase == .closing else { return }
        unsent.append(parcel)
        unsentBytes += parcel.size
        transmit()
    }

    func askForWritable() {
        wantsWritable = true
        tellWritable()
    }

    func close(_ reason: CloseReason) {
        guard phase != .closed, closeReason == nil else { return }
        closeReason = reason
        phase = .closing
        closeDeadline = world.now + .seconds(1)
        world.agenda.add(.closes(line: number), at: world.now)
    }

    // MARK: The way down

    /// Sends what waits, as far as the path and the peer's buffer go.
    func transmit() {
        while let first = unsent.first {
            let size = first.size
            let departs = max(world.now, freeAt, downClogUntil)
            guard departs - world.now < .milliseconds(20) else {
                if !isDepartingLater {
                    isDepartingLater = true
                    world.agenda.add(.departs(line: number), at: departs)
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
            world.agenda.add(.arrives(line: number), at: lastArrival)
        }
    }

    func departAgain() {
        isDepartingLater = false
        transmit()
    }

    func arrive() {
        // What goes to somebody who is gone is never acknowledged.
        guard !isPeerGone, let parcel = flying.popFirst() else { return }
        flyingBytes -= parcel.size
        acknowledgements.append((world.now + latency, parcel.size))
        acknowledgedSoonBytes += parcel.size
        unread.append(parcel)
        unreadBytes += parcel.size
        tellWritable()
        read()
    }

    private func tellWritable() {
        guard wantsWritable, phase != .closed else { return }
        let due = isCongested ? acknowledgements.last?.at : world.now
        if let due { world.agenda.add(.writable(line: number), at: due) }
    }

    /// The peer reads what has come, if it reads at all now.
    func read() {
        guard !isReadingLater else { return }
        while !isPeerGone {
            guard world.now >= readsAgainAt else {
                isReadingLater = true
                world.agenda.add(.reads(line: number), at: readsAgainAt)
                return
            }
            guard let parcel = unread.popFirst() else { return }
            unreadBytes -= parcel.size
            if readingPause > .zero { readsAgainAt = world.now + readingPause }
            transmit()
            stay.take(parcel)
        }
    }

    func readAgain() {
        isReadingLater = false
        read()
    }

    // MARK: The way up

    /// From the peer.
    func send(_ parcel: Parcel) {
        guard !isPeerGone else { return }
        up.append(parcel)
        lastReach = max(lastReach, max(world.now, upClogUntil) + latency + world.draw(upTo: jitter))
        world.agenda.add(.reaches(line: number), at: lastReach)
    }

    func reach() {
        guard let parcel = up.popFirst(), phase != .closed else { return }
        if case .broken = parcel { inbox.removeAll() }
        inbox.append(parcel)
        world.shards[shard].becameReadable(self)
    }

    /// The peer is gone. Told to the gateway, some of what was on its way up is lost; else it has to find out.
    func breakOff(isTold: Bool) {
        guard !isPeerGone else { return }
        if isTold {
            while !up.isEmpty, world.chance.chance(0.5) { up.removeLast() }
            send(.broken)
        } else {
            up.removeAll()
        }
        isPeerGone = true
    }

    /// All is well with the path and its peer from now on.
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
        // What was to come much later comes now; the happenings of old find nothing more.
        for _ in flying { world.agenda.add(.arrives(line: number), at: lastArrival) }
        for _ in up { world.agenda.add(.reaches(line: number), at: lastReach) }
        readingPause = .zero
        readsAgainAt = world.now
        isReadingLater = false
        transmit()
        read()
    }
}
