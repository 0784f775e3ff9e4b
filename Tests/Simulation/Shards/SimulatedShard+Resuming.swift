internal import Engine
internal import Wire

/// State passed from the old slot of a resumed participant to the new one.
struct SessionHandover {
    var log: EventLog
    let framesSent: UInt64
    let framesDropped: UInt64
}

/// Resume, as in the gateway's `ParticipantSessions`.
extension SimulatedShard {
    func loseLink(of member: SimulatedMember, _ reason: DisconnectReason) {
        member.link = .lost
        participantsAway += 1
        report(.connectionLost(member.handle, reason), roomOf: member)
    }

    func isLoss(_ end: End, of member: SimulatedMember) -> Bool {
        if member.successor != nil { return true }
        guard member.sentHello || member.resumption != nil || member.awaitsProof, !member.isNowhere else { return false }
        switch end {
        case .closed(let reason): return reason == .pingTimeout
        case .lost: return !member.connection.wasClosedByPeer
        }
    }

    func endAbsence(of member: SimulatedMember) {
        participants -= 1
        participantsAway -= 1
        freeSlot(member.handle)
    }

    func confirmResume(of member: SimulatedMember) {
        member.awaitsProof = false
        report(.resumeConfirmed(member.handle), roomOf: member)
    }

    // MARK: From slot to slot

    func handOver(from old: ParticipantHandle, to new: ParticipantHandle) {
        member(at: new)?.awaitsLog = true
        guard Int(old.shard) == index else { return }
        guard let member = member(at: old) else { return give(nil, to: new) }
        forget(member)
        if member.awaitsLog {
            member.successor = new
            if member.link == .up { finish(member, .duplicateIdentity) }
        } else {
            give(SessionHandover(log: member.log, framesSent: member.framesSent, framesDropped: member.framesDropped), to: new)
            end(member)
        }
    }

    private func give(_ handover: SessionHandover?, to new: ParticipantHandle) {
        world.mailboxes[Int(new.shard)].post(.takeOver(new, handover))
        world.shards[Int(new.shard)].wakeSoon()
    }

    private func end(_ member: SimulatedMember) {
        if member.link == .lost { endAbsence(of: member) } else { finish(member, .duplicateIdentity) }
    }

    private func pass(_ handover: SessionHandover?, from member: SimulatedMember, to successor: ParticipantHandle) {
        member.successor = nil
        var handover = handover
        for event in member.held.dropFirst() { _ = handover?.log.append(event, at: now) }
        give(handover, to: successor)
        end(member)
    }

    func takeOver(_ handle: ParticipantHandle, _ handover: SessionHandover?) {
        guard let member = member(at: handle), member.awaitsLog, let ticket = member.resumption else { return }
        member.awaitsLog = false
        member.resumption = nil
        if let successor = member.successor { return pass(handover, from: member, to: successor) }
        var handover = handover
        if let seq = ticket.lastSeq { handover?.log.removeHellos(after: seq) }
        let missed = handover.flatMap { handover in ticket.lastSeq.flatMap(handover.log.events) }
        if member.link == .up, missed == nil { return joinAnew(member, ticket) }
        world.log("\(member.connection.session) resumes and has missed \(missed?.count ?? 0) events")
        world.counts.resumed += 1
        if let handover { member.take(handover) }
        member.awaitsProof = true
        for (seq, event) in missed ?? [] { replay(event, seq: seq, to: member) }
        let held = member.held
        member.held = []
        for event in held { send(event, to: member) }
    }

    private func joinAnew(_ member: SimulatedMember, _ ticket: JoinTicket) {
        let connection = member.connection
        // A new participant receives tracks from now on: earlier frames are no gap.
        world.expect(
            connection.handed.values.allSatisfy { $0.allSatisfy(\.isDropped) },
            "\(connection.session) received frames before its resume was rejected")
        connection.handed.removeAll()
        let handle = takeSlot()
        let newcomer = SimulatedMember(handle: handle, connection: connection, kind: member.kind, swarm: world.swarm, now: now)
        newcomer.deliveryProbe = member.deliveryProbe
        slots[Int(handle.slot)] = newcomer
        connection.slot = Int(handle.slot)
        connection.session.handle = handle
        leaveRoom(member, .duplicateIdentity)
        join(newcomer, ticket.withoutClaim)
    }

    func hold(_ event: EncodedEvent, for member: SimulatedMember) {
        guard member.held.count < ProtocolLimits.resumeEventsMax else { return finish(member, .resumeWindowOver) }
        member.held.append(event)
    }
}
