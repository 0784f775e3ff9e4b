internal import Backend
internal import Engine
internal import Sockets
internal import Wire

/// Events and replies to a participant, in two lanes of its outbox:
///
/// - *replay*: `hello` and the events that describe the past, on join and on resume. Drained first, at the connection's own pace, and
///   bounded by `Limits.replayBytesMax`, which no replay reaches.
/// - *live*: everything else.
///
/// The first event of a connection is `hello`; replies to earlier requests follow it.
extension ParticipantConnection {
    // MARK: Events

    /// Numbers, logs and sends an event.
    ///
    /// - Parameter isReplay: the event belongs to a snapshot or replay and does not count as backlog.
    func send(_ event: EncodedEvent, isReplay: Bool = false) {
        guard !link.awaitsHandover else { return hold(event) }
        let isGreeting = !session.isGreeted
        let seq = isGreeting ? session.log.appendHello(at: context.now) : session.log.append(event, at: context.now)
        session.isGreeted = true
        guard link.isUp else { return }
        if isGreeting || isReplay {
            replay(event, seq: seq)
        } else if countSent() {
            if acceptsControl { write(event, seq: seq) } else { queue(event.bytes(seq: seq)) }
        }
        if isGreeting { finishGreeting() }
    }

    /// Sends an event that already has a number, or queues it in the replay lane.
    func replay(_ event: EncodedEvent, seq: UInt64) {
        guard countSent() else { return }
        if acceptsControl {
            write(event, seq: seq)
        } else if outbox.append(replay: event, seq: seq) {
            flushLater()
        } else {
            close(.slowConsumer)
        }
    }

    /// Encodes an event where it is sent from, unless it is too long for the buffer.
    private func write(_ event: EncodedEvent, seq: UInt64) {
        let count = event.byteCount(seq: seq)
        guard count <= FrameSender.messageBytesMax else {
            socket.write(text: event.bytes(seq: seq))
            return
        }
        event.write(seq: seq, to: sender.message)
        socket.write(text: sender.message, count: count, patience: event.deferralMilliseconds)
    }

    private func finishGreeting() {
        if session.resumeRequest != nil {
            context.counters.resumes[.refused, default: 0] += 1
            context.counters.joins += 1
            session.resumeRequest = nil
        }
        if session.needsResumeConfirmation { sender.sendProbe(to: self) }
        let seconds = Double((context.loop.exactNow - session.joinStartedAt).inNanoseconds) / 1e9
        context.counters.joinSeconds.add(seconds)
        for reply in session.repliesBeforeHello { write(reply) }
        session.repliesBeforeHello = []
    }

    /// Holds an event until the handover arrives, which takes two mailbox hops. A participant that gets more events in that time than can
    /// be replayed is closed, and has to join again.
    private func hold(_ event: EncodedEvent) {
        guard session.heldEvents.count < ProtocolLimits.resumeEventsMax else { return finish(.resumeWindowOver) }
        session.heldEvents.append(event)
    }

    /// Sends the events that were held until the handover.
    func sendHeldEvents() {
        let held = session.heldEvents
        session.heldEvents = []
        for event in held { send(event) }
    }

    // MARK: Replies

    /// Sends a reply, never before `hello`, which may still be on its way from the room's home.
    func send(reply: [UInt8]) {
        if session.isGreeted {
            write(reply)
        } else if session.repliesBeforeHello.count < Self.repliesBeforeHelloMax {
            session.repliesBeforeHello.append(reply)
        } else {
            close(.protocolError)
        }
    }

    private static var repliesBeforeHelloMax: Int { 100 }

    func refuse(_ error: RequestError, id: UInt64?) {
        if countRefused(error, id: id) { send(reply: EncodedReply.bytes(of: error, re: id)) }
    }
}
