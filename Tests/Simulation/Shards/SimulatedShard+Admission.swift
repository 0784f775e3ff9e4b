internal import Engine
internal import Wire

/// Admission after token validation, as in the gateway's `ConnectionAdmission`.
extension SimulatedShard {
    /// Whether the upgrade is rejected with 409.
    func rejects(_ ticket: JoinTicket) -> Bool {
        if let room = roomByName[ticket.room].flatMap({ rooms[$0]?.room }) {
            return room.admissionError(for: ticket.admission) == .roomFull
        }
        return !ticket.admission.kind.isDependent && world.directory.isFull(ticket.room, for: ticket.admission.identity)
    }

    func opened(_ connection: SimulatedConnection) {
        let ticket = connection.session.ticket
        let handle = takeSlot()
        let member = SimulatedMember(handle: handle, connection: connection, kind: ticket.admission.kind, swarm: world.swarm, now: now)
        slots[Int(handle.slot)] = member
        connection.slot = Int(handle.slot)
        connection.phase = .open
        connection.openedAt = now
        connection.session.handle = handle
        participants += 1
        if ticket.admission.resuming != nil { member.resumption = ticket }
        world.log("shard \(index) assigns \(connection.session) slot \(handle.slot).\(handle.generation)")
        join(member, ticket)
        scheduleTick()
        sendProbe(from: member)
    }

    func memberClosed(_ connection: SimulatedConnection, _ end: End) {
        guard connection.slot >= 0, let member = slots[connection.slot], member.connection === connection else { return }
        connection.slot = -1
        let end = member.pendingClose.map { End.closed($0.reason) } ?? end
        let reason: DisconnectReason =
            switch end {
            case .closed(let reason): reason.disconnectReason
            case .lost: connection.wasClosedByPeer ? .clientInitiated : .signalClose
            }
        world.log("shard \(index) has lost \(connection.session): \(reason)")
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
