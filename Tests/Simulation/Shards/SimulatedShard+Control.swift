internal import Engine
internal import Wire

/// Control messages, as in the gateway's `RequestReader` and `ParticipantConnection`.
extension SimulatedShard {
    func received(text message: [UInt8], from connection: SimulatedConnection) {
        guard connection.slot >= 0, let member = slots[connection.slot], member.pendingClose == nil else { return }
        member.lastReceived = now
        guard String(validating: message, as: UTF8.self) != nil else { return close(member, .invalidText) }
        let incoming = IncomingRequest(parsing: message)
        switch incoming.content {
        case .failure(let error):
            reject(error, re: incoming.id, to: member)
            if error.code == .malformed { countMalformed(of: member) }
        case .success(.ping(let t)):
            if let id = incoming.id { send(answer: EncodedReply.bytes(of: .pong(t), re: id), to: member) }
        case .success(let request):
            report(.request(request, id: incoming.id, from: member.handle), roomOf: member)
        }
    }

    func send(_ event: EncodedEvent, isReplay: Bool = false, to member: SimulatedMember) {
        guard !member.awaitsLog else { return hold(event, for: member) }
        let isHello = !member.sentHello
        let seq = isHello ? member.log.appendHello(at: now) : member.log.append(event, at: now)
        member.sentHello = true
        guard member.link == .up else { return }
        if isHello || isReplay { replay(event, seq: seq, to: member) } else { send(event.bytes(seq: seq), to: member) }
        guard isHello else { return }
        member.resumption = nil
        if member.awaitsProof { sendProbe(from: member) }
        for answer in member.answersBeforeHello { send(answer, to: member) }
        member.answersBeforeHello = []
    }

    func send(answer: [UInt8], to member: SimulatedMember) {
        if member.sentHello {
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

    func reject(_ error: RequestError, re id: UInt64?, to member: SimulatedMember) {
        guard id != nil || error.code == .malformed else { return }
        send(answer: EncodedReply.bytes(of: error, re: id), to: member)
    }

    func send(_ message: [UInt8], to member: SimulatedMember) {
        guard member.connection.phase == .open, member.pendingClose == nil else { return }
        if !member.outbox.hasControl, !member.connection.isCongested { return member.connection.write(.text(message)) }
        if member.outbox.append(control: message) {
            startWaiting(member)
        } else {
            close(member, .slowConsumer)
        }
    }

    func replay(_ event: EncodedEvent, seq: UInt64, to member: SimulatedMember) {
        guard member.connection.phase == .open, member.pendingClose == nil else { return }
        if !member.outbox.hasControl, !member.connection.isCongested { return member.connection.write(.text(event.bytes(seq: seq))) }
        if member.outbox.append(replay: event, seq: seq) {
            startWaiting(member)
        } else {
            close(member, .slowConsumer)
        }
    }

    func close(_ member: SimulatedMember, _ reason: CloseReason) {
        guard member.connection.phase == .open, member.pendingClose == nil else { return }
        if reason != .slowConsumer { send(.bye(reason.disconnectReason, retryable: reason.isRetryable), to: member) }
        finish(member, reason)
    }

    func finish(_ member: SimulatedMember, _ reason: CloseReason) {
        guard member.connection.phase == .open, member.pendingClose == nil else { return }
        world.log("shard \(index) closes \(member.connection.session): \(reason)")
        guard member.outbox.hasControl, reason != .slowConsumer else { return member.connection.close(reason) }
        member.pendingClose = (reason, now + .seconds(1))
        startWaiting(member)
    }

    func finishPendingClose(_ member: SimulatedMember) {
        guard let pendingClose = member.pendingClose, !member.outbox.hasControl || now >= pendingClose.deadline else { return }
        member.connection.close(pendingClose.reason)
    }
}
