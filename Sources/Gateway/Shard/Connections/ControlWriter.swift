internal import Backend
internal import Engine
internal import Sockets
internal import Wire

/// Sends events, replies and errors to participants, and closes their connections.
///
/// Control messages are never dropped. They are written at once if nothing is queued and the socket accepts them, otherwise queued in the
/// connection's outbox, in one of two lanes:
///
/// - *replay*: `hello` and the events that describe the past, on join and on resume. Drained first, at the connection's own pace, and
///   bounded by `Limits.replayBytesMax`, which no replay reaches.
/// - *live*: everything else. A client that lets more than `Limits.controlBacklogBytesMax` pile up is closed as a slow consumer.
///
/// The first event of a connection is `hello`; replies to earlier requests follow it.
final class ControlWriter {
    private let context: ShardContext
    private let sender: FrameSender

    init(_ context: ShardContext, _ sender: FrameSender) {
        self.context = context
        self.sender = sender
    }

    // MARK: Events

    /// Numbers, logs and sends an event.
    ///
    /// - Parameter isReplay: the event belongs to a snapshot or replay and does not count as backlog.
    func send(_ event: EncodedEvent, isReplay: Bool = false, to participant: ParticipantConnection) {
        guard !participant.link.awaitsHandover else { return hold(event, for: participant) }
        let isGreeting = !participant.session.isGreeted
        let seq =
            isGreeting
            ? participant.session.log.appendHello(at: context.now) : participant.session.log.append(event, at: context.now)
        participant.session.isGreeted = true
        guard participant.link.isUp else { return }
        if isGreeting || isReplay {
            replay(event, seq: seq, to: participant)
        } else {
            write(event, seq: seq, to: participant)
        }
        if isGreeting { finishGreeting(of: participant) }
    }

    func send(_ event: Event, to participant: ParticipantConnection) {
        send(EncodedEvent(event), to: participant)
    }

    /// Sends an event that already has a number, or queues it in the replay lane.
    func replay(_ event: EncodedEvent, seq: UInt64, to participant: ParticipantConnection) {
        guard countControl(to: participant) else { return }
        if canWrite(to: participant) {
            writeNow(event, seq: seq, to: participant)
        } else if participant.outbox.append(replay: event, seq: seq) {
            sender.startWaiting(participant)
        } else {
            close(participant, .slowConsumer)
        }
    }

    private func finishGreeting(of participant: ParticipantConnection) {
        if participant.session.resumeRequest != nil {
            context.counters.resumes[.refused, default: 0] += 1
            context.counters.joins += 1
            participant.session.resumeRequest = nil
        }
        if participant.session.needsResumeConfirmation { sender.sendProbe(to: participant) }
        let seconds = Double((context.loop.exactNow - participant.session.joinStartedAt).inNanoseconds) / 1e9
        context.counters.joinSeconds.add(seconds)
        for reply in participant.session.repliesBeforeHello { write(reply, to: participant) }
        participant.session.repliesBeforeHello = []
    }

    /// Holds an event until the handover arrives, which takes two mailbox hops. A participant that gets more events in that time than can
    /// be replayed is closed, and has to join again.
    private func hold(_ event: EncodedEvent, for participant: ParticipantConnection) {
        guard participant.session.heldEvents.count < ProtocolLimits.resumeEventsMax else {
            return finish(participant, .resumeWindowOver)
        }
        participant.session.heldEvents.append(event)
    }

    /// Sends the events that were held until the handover.
    func sendHeldEvents(to participant: ParticipantConnection) {
        let held = participant.session.heldEvents
        participant.session.heldEvents = []
        for event in held { send(event, to: participant) }
    }

    // MARK: Replies

    /// Sends a reply, never before `hello`, which may still be on its way from the room's home.
    func send(reply: [UInt8], to participant: ParticipantConnection) {
        if participant.session.isGreeted {
            write(reply, to: participant)
        } else if participant.session.repliesBeforeHello.count < Self.repliesBeforeHelloMax {
            participant.session.repliesBeforeHello.append(reply)
        } else {
            close(participant, .protocolError)
        }
    }

    private static var repliesBeforeHelloMax: Int { 100 }

    /// Refuses a request: counts it, and answers if the request had an id or could not be parsed at all.
    func refuse(_ error: RequestError, id: UInt64?, to participant: ParticipantConnection) {
        context.counters.requestsRefused[error.code.description, default: 0] += 1
        guard id != nil || error.code == .malformed else { return }
        send(reply: EncodedReply.bytes(of: error, re: id), to: participant)
    }

    // MARK: Writing

    private func write(_ message: [UInt8], to participant: ParticipantConnection) {
        guard countControl(to: participant) else { return }
        if canWrite(to: participant) { participant.socket.write(text: message) } else { queue(message, for: participant) }
    }

    private func write(_ event: EncodedEvent, seq: UInt64, to participant: ParticipantConnection) {
        guard countControl(to: participant) else { return }
        if canWrite(to: participant) {
            writeNow(event, seq: seq, to: participant)
        } else {
            queue(event.bytes(seq: seq), for: participant)
        }
    }

    /// Encodes an event where it is sent from, unless it is too long for the buffer.
    private func writeNow(_ event: EncodedEvent, seq: UInt64, to participant: ParticipantConnection) {
        let count = event.byteCount(seq: seq)
        guard count <= FrameSender.messageBytesMax else {
            participant.socket.write(text: event.bytes(seq: seq))
            return
        }
        event.write(seq: seq, to: sender.message)
        participant.socket.write(text: sender.message, count: count, patience: event.deferralMilliseconds)
    }

    private func countControl(to participant: ParticipantConnection) -> Bool {
        guard participant.isWritable else { return false }
        context.counters.controlOut += 1
        return true
    }

    private func canWrite(to participant: ParticipantConnection) -> Bool {
        !participant.outbox.hasControl && !participant.socket.isCongested
    }

    private func queue(_ message: [UInt8], for participant: ParticipantConnection) {
        if participant.outbox.append(control: message) {
            sender.startWaiting(participant)
        } else {
            close(participant, .slowConsumer)
        }
    }

    // MARK: Closing

    /// Closes a connection on the shard's own account: sends `bye` with the reason first.
    func close(_ participant: ParticipantConnection, _ reason: CloseReason) {
        guard participant.isWritable else { return }
        if reason != .slowConsumer { send(.bye(reason.disconnectReason, retryable: reason.isRetryable), to: participant) }
        finish(participant, reason)
    }

    /// Closes the socket once its control messages are flushed, or after a second. The room learns of it when the socket is closed, unless
    /// it knows already.
    func finish(_ participant: ParticipantConnection, _ reason: CloseReason) {
        guard participant.isWritable else { return }
        context.countClosed(reason)
        guard participant.outbox.hasControl, reason != .slowConsumer else {
            participant.socket.close(reason)
            return
        }
        participant.pendingClose = PendingClose(reason: reason, deadline: context.now + .seconds(1))
        sender.startWaiting(participant)
    }

    /// Closes the socket if its control messages are flushed or its time is over.
    func completePendingClose(of participant: ParticipantConnection) {
        guard let pending = participant.pendingClose, !participant.outbox.hasControl || context.now >= pending.deadline else { return }
        participant.socket.close(pending.reason)
    }

    /// Counts a message that cannot be parsed; too many in a second close the connection.
    func countMalformed(from participant: ParticipantConnection) {
        if participant.requests.malformed.exceedsLimit(afterMessageAt: context.now) { close(participant, .protocolError) }
    }
}
