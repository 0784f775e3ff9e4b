internal import Engine
internal import Wire

/// What goes from an old slot to a new one.
struct SessionHandover {
    var log: EventLog
    let framesSent: UInt64
    let framesDropped: UInt64
}

/// As `Shard+Resuming`.
extension SimulatedShard {
    func loseLink(of member: SimulatedMember, _ reason: DisconnectReason) {
        member.link = .lost
        participantsAway += 1
        tell(.connectionLost(member.handle, reason), roomOf: member)
    }

    func isLoss(_ end: End, of member: SimulatedMember) -> Bool {
        if member.successor != nil { return true }
        guard member.wasGreeted || member.resumption != nil || member.owesProof, !member.isNowhere else { return false }
        switch end {
        case .closed(let reason): return reason == .pingTimeout
        case .lost: return !member.line.wasClosedByPeer
        }
    }

    func endAbsence(of member: SimulatedMember) {
        participants -= 1
        participantsAway -= 1
        freeSlot(member.handle)
    }

    func confirmResume(of member: SimulatedMember) {
        member.owesProof = false
        tell(.resumeConfirmed(member.handle), roomOf: member)
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
        world.note("\(member.line.stay) takes its place back and has missed \(missed?.count ?? 0)")
        world.tally.resumed += 1
        if let handover { member.take(handover) }
        member.owesProof = true
        for (seq, event) in missed ?? [] { replay(event, seq: seq, to: member) }
        let held = member.held
        member.held = []
        for event in held { send(event, to: member) }
    }

    private func joinAnew(_ member: SimulatedMember, _ ticket: JoinTicket) {
        let line = member.line
        // Who comes anew hears each track from now on: what it was not given while it waited is no gap.
        world.expect(
            line.handed.values.allSatisfy { $0.allSatisfy(\.isDropped) }, "\(line.stay) was given frames before it was told that it is new")
        line.handed.removeAll()
        let handle = takeSlot()
        let newcomer = SimulatedMember(handle: handle, line: line, kind: member.kind, swarm: world.swarm, now: now)
        newcomer.deliveryProbe = member.deliveryProbe
        slots[Int(handle.slot)] = newcomer
        line.slot = Int(handle.slot)
        line.stay.handle = handle
        leaveRoom(member, .duplicateIdentity)
        join(newcomer, ticket.withoutClaim)
    }

    func hold(_ event: EncodedEvent, for member: SimulatedMember) {
        guard member.held.count < ProtocolLimits.resumeEventsMax else { return finish(member, .resumeWindowOver) }
        member.held.append(event)
    }
}
