internal import Backend
internal import Engine
internal import Sockets
internal import Wire

/// The socket of a participant or a channel, as control messages need it: the queue of messages, the close that waits for them, and what is
/// known of the peer: whether it is alive and how often it violates the protocol.
///
/// Control messages are never dropped. They are written at once if none is queued and the socket accepts them, otherwise queued. A client
/// that lets more than `Limits.controlBacklogBytesMax` pile up is closed as a slow consumer.
class ControlConnection {
    // Read for each frame, hence first in memory and without dynamic exclusivity checks.
    final let socket: Connection
    /// Set while the last messages are flushed before the socket is closed.
    @exclusivity(unchecked) private(set) final var pendingClose: PendingClose?
    @exclusivity(unchecked) final var lastReceivedAt: Instant
    @exclusivity(unchecked) final var outbox: Outbox
    final let context: ShardContext
    private final var malformed: MalformedMessageCounter

    struct PendingClose {
        let reason: CloseReason
        /// The socket is closed then, whether its messages are flushed or not.
        let deadline: Instant
    }

    init(_ context: ShardContext, socket: Connection, outbox: consuming Outbox) {
        self.context = context
        self.socket = socket
        self.outbox = outbox
        lastReceivedAt = context.now
        malformed = MalformedMessageCounter(now: context.now)
    }

    /// Whether messages and frames can be written, or queued for writing.
    final var isWritable: Bool { socket.phase == .open && pendingClose == nil }
    /// Whether a control message can be written now.
    final var acceptsControl: Bool { !outbox.hasControl && !socket.isCongested }

    // MARK: Sending

    /// Writes a message, or queues it.
    final func write(_ message: [UInt8]) {
        guard countSent() else { return }
        if acceptsControl { socket.write(text: message) } else { queue(message) }
    }

    /// Queues a message that has been counted.
    final func queue(_ message: [UInt8]) {
        if outbox.append(control: message) { flushLater() } else { close(.slowConsumer) }
    }

    /// Counts a message that is about to be sent.
    ///
    /// - Returns: false if it cannot be sent any more.
    final func countSent() -> Bool {
        guard isWritable else { return false }
        context.counters.controlOut += 1
        return true
    }

    /// Makes sure that queued messages are flushed.
    func flushLater() { socket.askForWritable() }

    // MARK: Receiving

    /// Counts a text message.
    ///
    /// - Returns: false if it is to be ignored, because the connection is being closed.
    final func countReceived() -> Bool {
        guard pendingClose == nil else { return false }
        lastReceivedAt = context.now
        context.counters.controlIn += 1
        return true
    }

    /// Counts a message that cannot be parsed; too many in a second close the connection.
    final func countMalformed() {
        if malformed.exceedsLimit(afterMessageAt: context.now) { close(.protocolError) }
    }

    /// Counts a refused request.
    ///
    /// - Returns: whether it is answered: only if it had an id or could not be parsed at all.
    final func countRefused(_ error: RequestError, id: UInt64?) -> Bool {
        context.counters.requestsRefused[error.code.description, default: 0] += 1
        return id != nil || error.code == .malformed
    }

    /// Closes the connection if its peer has been silent for too long.
    ///
    /// - Returns: for how long it has been silent; nil if that was too long.
    final func checkLiveness(_ pauses: PauseDetector) -> Duration? {
        let silence = pauses.silence(since: lastReceivedAt, at: context.now)
        guard silence >= .milliseconds(ProtocolLimits.pingTimeoutMilliseconds) else { return silence }
        close(.pingTimeout)
        return nil
    }

    // MARK: Closing

    /// Closes the connection on the shard's own account.
    func close(_ reason: CloseReason) { finish(reason) }

    /// Closes the socket once its control messages are flushed, or after a second.
    final func finish(_ reason: CloseReason) {
        guard isWritable else { return }
        context.countClosed(reason)
        guard outbox.hasControl, reason != .slowConsumer else { return socket.close(reason) }
        pendingClose = PendingClose(reason: reason, deadline: context.now + .seconds(1))
        flushLater()
    }

    /// Closes the socket if its control messages are flushed or its time is over.
    final func completePendingClose() {
        guard let pendingClose, !outbox.hasControl || context.now >= pendingClose.deadline else { return }
        socket.close(pendingClose.reason)
    }
}
