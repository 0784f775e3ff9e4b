internal import Engine
internal import Wire

/// As `Shard+Admission`, from where the token is known to be good.
extension SimulatedShard {
    /// Whether the upgrade is refused with 409.
    func refuses(_ ticket: JoinTicket) -> Bool {
        if let room = roomByName[ticket.room].flatMap({ rooms[$0]?.room }) {
            return room.admissionError(for: ticket.admission) == .roomFull
        }
        return !ticket.admission.kind.isDependent && world.directory.isFull(ticket.room, for: ticket.admission.identity)
    }

    func opened(_ line: Line) {
        let ticket = line.stay.ticket
        let handle = takeSlot()
        let member = SimulatedMember(handle: handle, line: line, kind: ticket.admission.kind, swarm: world.swarm, now: now)
        slots[Int(handle.slot)] = member
        line.slot = Int(handle.slot)
        line.phase = .open
        line.openedAt = now
        line.stay.handle = handle
        participants += 1
        if ticket.admission.resuming != nil { member.resumption = ticket }
        world.note("shard \(index) seats \(line.stay) at \(handle.slot).\(handle.generation)")
        join(member, ticket)
        scheduleTick()
        sendProbe(from: member)
    }

    func memberClosed(_ line: Line, _ end: End) {
        guard line.slot >= 0, let member = slots[line.slot], member.line === line else { return }
        line.slot = -1
        let end = member.pendingClose.map { End.closed($0.reason) } ?? end
        let reason: DisconnectReason =
            switch end {
            case .closed(let reason): reason.disconnectReason
            case .lost: line.wasClosedByPeer ? .clientInitiated : .signalClose
            }
        world.note("shard \(index) has lost \(line.stay): \(reason)")
        var dropped: [FrameRef] = []
        member.outbox.removeAll { dropped.append($0) }
        for frame in dropped { release(frame, .left, of: member) }
        if isLoss(end, of: member) {
            loseLink(of: member, reason)
        } else {
            participants -= 1
            leaveRoom(member, reason)
        }
    }
}
