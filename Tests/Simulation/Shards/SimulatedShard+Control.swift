internal import Engine
internal import Wire

/// As `Shard+Control`.
extension SimulatedShard {
    func received(text message: [UInt8], from line: Line) {
        guard line.slot >= 0, let member = slots[line.slot], member.pendingClose == nil else { return }
        member.lastHeard = now
        guard String(validating: message, as: UTF8.self) != nil else { return close(member, .invalidText) }
        let incoming = IncomingRequest(parsing: message)
        switch incoming.content {
        case .failure(let error):
            refuse(error, re: incoming.id, to: member)
            if error.code == .malformed { countMalformed(of: member) }
        case .success(.ping(let t)):
            if let id = incoming.id { send(answer: EncodedReply.bytes(of: .pong(t), re: id), to: member) }
        case .success(let request):
            tell(.request(request, id: incoming.id, from: member.handle), roomOf: member)
        }
    }

    func send(_ event: EncodedEvent, isReplay: Bool = false, to member: SimulatedMember) {
        guard !member.awaitsLog else { return hold(event, for: member) }
        let isGreeting = !member.wasGreeted
        let seq = isGreeting ? member.log.appendHello(at: now) : member.log.append(event, at: now)
        member.wasGreeted = true
        guard member.link == .up else { return }
        if isGreeting || isReplay { replay(event, seq: seq, to: member) } else { send(event.bytes(seq: seq), to: member) }
        guard isGreeting else { return }
        member.resumption = nil
        if member.owesProof { sendProbe(from: member) }
        for answer in member.answersBeforeHello { send(answer, to: member) }
        member.answersBeforeHello = []
    }

    func send(answer: [UInt8], to member: SimulatedMember) {
        if member.wasGreeted {
            send(answer, to: member)
        } else if member.answersBeforeHello.count < 100 {
            member.answersBeforeHello.append(answer)
        } else {
            close(member, .protocolError)
        }
    }

    func send(_ event: Event, to member: SimulatedMember) {
        send(EncodedEvent(event), to: member)
    }

    func refuse(_ error: RequestError, re id: UInt64?, to member: SimulatedMember) {
        guard id != nil || error.code == .malformed else { return }
        send(answer: EncodedReply.bytes(of: error, re: id), to: member)
    }

    func send(_ message: [UInt8], to member: SimulatedMember) {
        guard member.line.phase == .open, member.pendingClose == nil else { return }
        if !member.outbox.hasControl, !member.line.isCongested { return member.line.write(.text(message)) }
        if member.outbox.append(control: message) {
            startWaiting(member)
        } else {
            close(member, .slowConsumer)
        }
    }

    func replay(_ event: EncodedEvent, seq: UInt64, to member: SimulatedMember) {
        guard member.line.phase == .open, member.pendingClose == nil else { return }
        if !member.outbox.hasControl, !member.line.isCongested { return member.line.write(.text(event.bytes(seq: seq))) }
        if member.outbox.append(replay: event, seq: seq) {
            startWaiting(member)
        } else {
            close(member, .slowConsumer)
        }
    }

    func close(_ member: SimulatedMember, _ reason: CloseReason) {
        guard member.line.phase == .open, member.pendingClose == nil else { return }
        if reason != .slowConsumer { send(.bye(reason.disconnectReason, retryable: reason.isRetryable), to: member) }
        finish(member, reason)
    }

    func finish(_ member: SimulatedMember, _ reason: CloseReason) {
        guard member.line.phase == .open, member.pendingClose == nil else { return }
        world.note("shard \(index) closes \(member.line.stay): \(reason)")
        guard member.outbox.hasControl, reason != .slowConsumer else { return member.line.close(reason) }
        member.pendingClose = (reason, now + .seconds(1))
        startWaiting(member)
    }

    func finishPendingClose(_ member: SimulatedMember) {
        guard let pendingClose = member.pendingClose, !member.outbox.hasControl || now >= pendingClose.deadline else { return }
        member.line.close(pendingClose.reason)
    }
}
