internal import Engine
internal import Identity
internal import Logging
internal import Sockets
internal import Wire

/// State shared by the parts of one shard: event loop, clock, timer, counters, keys, and the mailboxes of all shards.
final class ShardContext {
    let index: Int
    let gateway: GatewayContext
    let mailbox: Mailbox<ShardMessage>
    let log: Logger
    // Read for each frame, hence without dynamic exclusivity checks.
    @exclusivity(unchecked) private(set) var loop: Loop!
    @exclusivity(unchecked) private(set) var clock = LoopClock(standingAt: Instant(nanoseconds: 0))
    @exclusivity(unchecked) var counters = Counters()
    var keys: KeyRing
    /// When the timer fires next; nil if it is not set.
    private var nextTick: Instant?
    private var inbox: [ShardMessage] = []

    init(index: Int, gateway: GatewayContext, mailbox: Mailbox<ShardMessage>) {
        self.index = index
        self.gateway = gateway
        self.mailbox = mailbox
        keys = gateway.keys
        var log = Logger(label: "patchbay.shard")
        log[metadataKey: "shard"] = "\(index)"
        self.log = log
    }

    /// The time of this turn of the loop.
    var now: Instant { clock.now }

    func start(_ loop: Loop) {
        self.loop = loop
        clock = loop.clock
    }

    /// The loop is about to be freed: its clock must not be read any more.
    func stopClock() {
        clock = LoopClock(standingAt: loop.exactNow)
    }

    // MARK: Timer

    /// Makes the timer fire within `pause` at the latest.
    func wake(within pause: Duration) {
        let due = now + pause
        if let nextTick, nextTick <= due { return }
        nextTick = due
        loop.wake(at: due)
    }

    /// The instant for which the timer was set, when it has fired.
    func takeTick() -> Instant? {
        defer { nextTick = nil }
        return nextTick
    }

    // MARK: Messages

    var shardIndices: Range<Int> { gateway.mailboxes.indices }

    func isLocal(_ handle: ParticipantHandle) -> Bool { Int(handle.shard) == index }

    /// Posts a message to a shard's mailbox, also to this shard's own: it is handled in a later pass.
    func post(_ message: ShardMessage, to shard: Int) {
        guard gateway.mailboxes[shard].send(message) else { return }
        log.error(
            "a shard does not read its messages; they are dropped, and its clients will be disconnected", metadata: ["stuck": "\(shard)"])
    }

    /// Posts a message that can be refused.
    ///
    /// - Returns: false if that shard does not read its messages.
    func post(_ message: ShardMessage, unlessFull shard: Int) -> Bool {
        gateway.mailboxes[shard].post(message, unlessMoreThan: gateway.settings.mailboxMessagesMax)
    }

    /// Takes everything that has been posted to this shard and handles it in order.
    ///
    /// - Returns: whether messages were dropped after those.
    func drainMailbox(_ handle: (ShardMessage) -> Void) -> Bool {
        // Releases the memory of a burst: the mailbox swaps this buffer with its own.
        inbox.removeAll(keepingCapacity: inbox.capacity <= Self.inboxCapacityKept)
        let dropped = mailbox.drain(into: &inbox)
        for message in inbox { handle(message) }
        counters.mailboxMessagesDropped += UInt64(dropped)
        return dropped > 0
    }

    private static var inboxCapacityKept: Int { 4_096 }

    // MARK: Counting

    func countDropped(_ reason: DropReason, _ count: Int = 1) {
        counters.dropped[reason.rawValue] += UInt64(count)
    }

    func countClosed(_ reason: CloseReason) {
        counters.closed[reason.code, default: 0] += 1
    }
}
