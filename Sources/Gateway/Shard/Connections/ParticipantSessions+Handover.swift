internal import Engine
internal import Sockets
internal import Wire

/// Lost sockets and the sessions that resume them (docs/protocol/resuming.md, "Resuming").
///
/// Until the handover has arrived at the new slot, events from the room are held, so that the replay comes first. Frames are dropped: a
/// live frame from that time would be too old.
extension ParticipantSessions {
    /// Whether a client may resume after this end. A client that closed deliberately or violated the protocol may not, and neither may one
    /// without a resume token, which has not received `hello`.
    func canResume(_ participant: ParticipantConnection, after end: ConnectionEnd) -> Bool {
        let session = participant.session
        if session.successor != nil { return true }
        guard session.isGreeted || session.resumeRequest != nil || session.needsResumeConfirmation, session.isInRoom else { return false }
        switch end {
        // The gateway found out that the connection was dead, or has asked the client to return.
        case .closed(let reason): return reason == .pingTimeout || reason == .moved
        case .lost: return !participant.socket.wasClosedByPeer
        }
    }

    /// Keeps a participant in its slot after its socket is lost, until the room gives it up.
    func loseLink(of participant: ParticipantConnection, _ reason: DisconnectReason) {
        participant.link.isUp = false
        context.counters.participantsAway += 1
        // Reports nothing if the participant only waits for a handover to pass on: it is in no room then.
        rooms.submit(.connectionLost(participant.handle, reason), from: participant)
    }

    /// A pong was received after `hello`: the client has the new resume token, and the old one can be revoked.
    func noteDelivery(to connection: Connection) {
        guard let participant = slots[connection.slot], participant.session.needsResumeConfirmation, participant.session.isGreeted
        else { return }
        participant.session.needsResumeConfirmation = false
        rooms.submit(.resumeConfirmed(participant.handle), from: participant)
    }

    // MARK: From slot to slot

    /// A session moves to another slot. Called on the new slot's shard, then on the old one's.
    func handOver(from old: ParticipantHandle, to new: ParticipantHandle) {
        slots.occupant(of: new)?.link.awaitsHandover = true
        guard context.isLocal(old) else { return }
        guard let participant = slots.occupant(of: old) else { return send(nil, to: new) }
        rooms.detach(participant)
        if participant.link.awaitsHandover {
            // It has no state yet and passes on what it will get.
            participant.session.successor = new
            if participant.link.isUp { participant.finish(.duplicateIdentity) }
        } else {
            send(SessionHandover(of: participant), to: new)
            release(participant, .duplicateIdentity)
        }
    }

    /// By mailbox even to this shard: the room's remaining effects must be performed before the handover's consequences.
    private func send(_ handover: SessionHandover?, to new: ParticipantHandle) {
        context.post(.takeOver(new, handover), to: Int(new.shard))
    }

    private func pass(_ handover: SessionHandover?, from participant: ParticipantConnection, to successor: ParticipantHandle) {
        participant.session.successor = nil
        context.counters.resumes[.resumed, default: 0] += 1
        var handover = handover
        // The first held event is its own `hello`, which the successor does not need.
        for event in participant.session.heldEvents.dropFirst() { _ = handover?.log.append(event, at: context.now) }
        send(handover, to: successor)
        release(participant, .duplicateIdentity)
    }

    /// The handover has arrived: replays missed events, then sends held ones.
    func takeOver(_ handle: ParticipantHandle, _ handover: SessionHandover?) {
        guard let participant = slots.occupant(of: handle), participant.link.awaitsHandover,
            let request = participant.session.resumeRequest
        else { return }
        participant.link.awaitsHandover = false
        participant.session.resumeRequest = nil
        if let successor = participant.session.successor { return pass(handover, from: participant, to: successor) }
        var handover = handover
        if let seq = request.lastSeq { handover?.log.removeHellos(after: seq) }
        let missed = handover.flatMap { $0.isRestored ? $0.log.kept : request.lastSeq.flatMap($0.log.events) }
        // If the socket is lost again by now, the next resume decides.
        if participant.link.isUp, missed == nil {
            context.counters.resumes[.missed, default: 0] += 1
            context.counters.joins += 1
            return joinAfresh(participant, request)
        }
        context.counters.resumes[.resumed, default: 0] += 1
        if let handover { participant.take(handover) }
        participant.session.needsResumeConfirmation = true
        for (seq, event) in missed ?? [] { participant.replay(event, seq: seq) }
        participant.sendHeldEvents()
    }

    /// Too much was missed: gives the session up and joins on the same socket as a new participant.
    private func joinAfresh(_ participant: ParticipantConnection, _ request: JoinRequest) {
        let newcomer = makeParticipant(
            on: participant.socket, kind: participant.session.kind, joinStartedAt: participant.session.joinStartedAt,
            forwarder: participant.forwarder)
        newcomer.flow.probe = participant.flow.probe
        leaveRoom(participant, .duplicateIdentity)
        join(newcomer, request.withoutResume)
    }
}
