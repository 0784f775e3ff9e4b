internal import Engine
internal import Sockets
internal import Wire

/// Text messages: requests in; events, replies and errors out.
extension Shard {
    func received(text message: UnsafeRawBufferPointer, from connection: Connection) {
        guard connection.slot >= 0 else { return received(text: message, fromDevice: connection) }
        guard let member = slots[connection.slot], member.pendingClose == nil else { return }
        member.lastHeard = clock.now
        counters.controlIn += 1
        guard String(validating: message, as: UTF8.self) != nil else {
            close(member, .invalidText)
            return
        }
        let incoming = IncomingRequest(parsing: Array(message))
        switch incoming.content {
        case .failure(let error):
            refuse(error, re: incoming.id, to: member)
            if error.code == .malformed { countMalformed(of: member) }
        case .success(.ping(let t)):
            // The shard's own answer: a room has nothing to say to it.
            if let id = incoming.id { send(answer: EncodedReply.bytes(of: .pong(t), re: id), to: member) }
        case .success(let request):
            tellRequest(request, id: incoming.id, of: member)
        }
    }

    private func tellRequest(_ request: Request, id: UInt64?, of member: Member) {
        let input = Room.Input.request(request, id: id, from: member.handle)
        guard case .on(let home) = member.place else { return tell(input, roomOf: member) }
        guard common.mailboxes[home].post(.input(input, of: member.handle), unlessMoreThan: Self.requestsWaitingMax) else {
            return refuse(RequestError(.limitExceeded, "the gateway has more requests than it can answer now"), re: id, to: member)
        }
    }

    /// Requests that may wait for a room's home.
    private static var requestsWaitingMax: Int { 10_000 }

    func send(_ event: EncodedEvent, to member: Member) {
        guard !member.awaitsLog else { return hold(event, for: member) }
        let isGreeting = !member.wasGreeted
        let seq = isGreeting ? member.log.appendHello(at: clock.now) : member.log.append(event, at: clock.now)
        member.wasGreeted = true
        guard member.link == .up else { return }
        send(event, seq: seq, to: member)
        if isGreeting { noteGreeting(of: member) }
    }

    /// What it was told first is `hello`, or the word that it may not come in.
    private func noteGreeting(of member: Member) {
        if member.resumption != nil {
            counters.resumes[.refused, default: 0] += 1
            counters.joins += 1
            member.resumption = nil
        }
        if member.owesProof { sendProbe(from: member) }
        counters.joinSeconds.add(Double((loop.exactNow - member.joinStartedAt).inNanoseconds) / 1e9)
        for answer in member.answersBeforeHello { send(answer, to: member) }
        member.answersBeforeHello = []
    }

    /// Sends an answer, never before `hello`, which may still be on its way from the room's home.
    func send(answer: [UInt8], to member: Member) {
        if member.wasGreeted {
            send(answer, to: member)
        } else if member.answersBeforeHello.count < Self.answersBeforeHelloMax {
            member.answersBeforeHello.append(answer)
        } else {
            close(member, .protocolError)
        }
    }

    private static var answersBeforeHelloMax: Int { 100 }

    func send(_ event: Event, to member: Member) {
        send(EncodedEvent(event), to: member)
    }

    func refuse(_ error: RequestError, re id: UInt64?, to member: Member) {
        counters.requestsRefused[error.code.description, default: 0] += 1
        // Without a number there is nobody who waits for an answer, except where the number itself could not be read.
        guard id != nil || error.code == .malformed else { return }
        send(answer: EncodedReply.bytes(of: error, re: id), to: member)
    }

    /// Sends a control message: at once if nothing is before it, else in its lane. Never dropped; who lets over 256 KiB pile
    /// up is closed instead.
    func send(_ message: [UInt8], to member: Member) {
        guard takesControl(member) else { return }
        if mayWriteControl(to: member) { member.connection.write(text: message) } else { queue(control: message, for: member) }
    }

    /// The same for an event, which is made where it is sent from, unless it is long or must wait.
    private func send(_ event: EncodedEvent, seq: UInt64, to member: Member) {
        guard takesControl(member) else { return }
        guard mayWriteControl(to: member) else { return queue(control: event.bytes(seq: seq), for: member) }
        let count = event.byteCount(seq: seq)
        guard count <= ProtocolLimits.messageBytesMax else {
            member.connection.write(text: event.bytes(seq: seq))
            return
        }
        let message = messageStaging + Connection.headroom
        event.write(seq: seq, to: message)
        member.connection.write(text: message, count: count, patience: event.deferralMilliseconds)
    }

    /// Counts a control message for whom there may still be one.
    private func takesControl(_ member: Member) -> Bool {
        guard member.connection.phase == .open, member.pendingClose == nil else { return false }
        counters.controlOut += 1
        return true
    }

    private func mayWriteControl(to member: Member) -> Bool { !member.outbox.hasControl && !member.connection.isCongested }

    private func queue(control message: [UInt8], for member: Member) {
        if member.outbox.append(control: message) {
            startWaiting(member)
        } else {
            close(member, .slowConsumer)
        }
    }

    /// The shard itself ends a connection: says why, and closes.
    func close(_ member: Member, _ reason: CloseReason) {
        guard member.connection.phase == .open, member.pendingClose == nil else { return }
        if reason != .slowConsumer { send(.bye(reason.disconnectReason, retryable: reason.isRetryable), to: member) }
        finish(member, reason)
    }

    /// Closes the socket once its control messages are out, or after a second; the room is told when it is closed, unless it
    /// knows already.
    func finish(_ member: Member, _ reason: CloseReason) {
        guard member.connection.phase == .open, member.pendingClose == nil else { return }
        counters.closed[reason.code, default: 0] += 1
        guard member.outbox.hasControl, reason != .slowConsumer else {
            member.connection.close(reason)
            return
        }
        member.pendingClose = (reason, clock.now + .seconds(1))
        startWaiting(member)
    }

    /// Closes a socket whose control messages are out, or whose time is over.
    func finishPendingClose(_ member: Member) {
        guard let pendingClose = member.pendingClose, !member.outbox.hasControl || clock.now >= pendingClose.deadline else { return }
        member.connection.close(pendingClose.reason)
    }
}
