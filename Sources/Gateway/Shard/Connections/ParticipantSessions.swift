internal import Engine
internal import Sockets
internal import Wire

/// The life of participant connections: opening, leaving, losing the socket, and resuming.
///
/// The room decides whether a connection joins or resumes. The session state of a slot (`SessionHandover`: the event log with its numbers,
/// and totals) moves from the old slot's shard straight to the new one's.
final class ParticipantSessions {
    let context: ShardContext
    let slots: SlotTable<ParticipantConnection>
    let sender: FrameSender
    let rooms: RoomHost

    init(_ context: ShardContext, _ slots: SlotTable<ParticipantConnection>, _ sender: FrameSender, _ rooms: RoomHost) {
        self.context = context
        self.slots = slots
        self.sender = sender
        self.rooms = rooms
    }

    // MARK: Opening

    func opened(_ connection: Connection, _ request: JoinRequest) {
        connection.context = nil
        let participant = makeParticipant(
            on: connection, kind: request.admission.kind, joinStartedAt: request.startedAt, forwarder: request.forwarder)
        context.counters.connections += 1
        context.counters.participants += 1
        if request.admission.resuming == nil {
            context.counters.joins += 1
        } else {
            participant.session.resumeRequest = request
        }
        join(participant, request)
        // Measures the round trip before the first frame needs it.
        sender.sendProbe(to: participant)
    }

    func makeParticipant(
        on connection: Connection, kind: ParticipantKind, joinStartedAt: Instant, forwarder: String?
    ) -> ParticipantConnection {
        let handle = slots.reserve()
        let participant = ParticipantConnection(
            context, sender, handle: handle, socket: connection, session: SessionState(kind: kind, joinStartedAt: joinStartedAt),
            forwarder: forwarder)
        slots.occupy(handle, with: participant)
        connection.slot = Int(handle.slot)
        return participant
    }

    /// Passes a join to the room's home, which is this shard if the room is not open anywhere.
    func join(_ participant: ParticipantConnection, _ request: JoinRequest) {
        let home = context.gateway.directory.claim(request.room, for: context.index)
        if home == context.index {
            rooms.join(participant, request)
        } else if context.post(.joined(participant.handle, request), unlessFull: home) {
            participant.session.room = .remote(shard: home)
        } else {
            context.gateway.directory.withdraw(from: request.room)
            participant.finish(.serverShutdown)
        }
    }

    // MARK: Closing

    /// - Returns: false if the connection is not a participant's.
    func closed(_ connection: Connection, _ end: ConnectionEnd) -> Bool {
        guard connection.slot >= 0, let participant = slots[connection.slot], participant.socket === connection else { return false }
        connection.slot = -1
        context.counters.connections -= 1
        // A socket that broke while its last messages were being flushed counts as closed for that reason.
        let end = participant.pendingClose.map { ConnectionEnd.closed($0.reason) } ?? end
        let reason: DisconnectReason =
            switch end {
            case .closed(let reason): reason.disconnectReason
            case .lost: connection.wasClosedByPeer ? .clientInitiated : .signalClose
            }
        sender.discardQueue(of: participant)
        if canResume(participant, after: end) {
            loseLink(of: participant, reason)
        } else {
            context.counters.participants -= 1
            leaveRoom(participant, reason)
        }
        return true
    }

    /// Reports to the room once that a participant has left, and frees its slot when no message to it is in transit.
    func leaveRoom(_ participant: ParticipantConnection, _ reason: DisconnectReason) {
        let location = participant.session.room
        rooms.detach(participant)
        switch location {
        case .local(let room):
            rooms.apply(.left(participant.handle, reason), to: room)
            slots.free(participant.handle)
        case .remote(let home):
            slots.vacate(participant.handle)
            context.post(.left(participant.handle, reason), to: home)
        case .none:
            slots.free(participant.handle)
        }
    }

    /// Ends the stay of everybody on this shard. Those whose socket is lost leave at once, unless they only pass on a handover.
    func closeAll(_ reason: CloseReason) {
        for slot in 0..<slots.count {
            guard let participant = slots[slot] else { continue }
            if participant.link.isUp {
                participant.close(reason)
            } else if participant.session.isInRoom {
                context.counters.participants -= 1
                context.counters.participantsAway -= 1
                leaveRoom(participant, reason.disconnectReason)
            }
        }
    }

    /// The room's home has acknowledged the leave: nothing more is on its way to the slot.
    func slotReleased(_ handle: ParticipantHandle) {
        slots.free(handle)
    }

    /// The room has ended a participant's stay.
    func expelled(_ handle: ParticipantHandle, _ reason: CloseReason) {
        guard let participant = slots.occupant(of: handle) else { return }
        rooms.detach(participant)
        release(participant, reason)
    }

    /// Closes the socket or, if there is none, frees the slot.
    func release(_ participant: ParticipantConnection, _ reason: CloseReason) {
        guard !participant.link.isUp else { return participant.finish(reason) }
        context.counters.participants -= 1
        context.counters.participantsAway -= 1
        slots.free(participant.handle)
    }
}

extension Connection {
    /// The peer closed it deliberately (RFC 6455 section 7.4.1; 1001 is a browser page that was left).
    var wasClosedByPeer: Bool { peerCloseCode == 1000 || peerCloseCode == 1001 }
}

/// The outcome of a request to resume, as `/metrics` names it.
enum ResumeOutcome: String, CaseIterable {
    /// The session was resumed.
    case resumed
    /// No such session, another identity's session, or an invalid resume token.
    case refused
    /// The session exists, but some missed events are not retained.
    case missed
}
