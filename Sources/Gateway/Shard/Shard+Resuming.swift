internal import Engine
internal import Sockets
internal import Wire

/// Sockets that are lost, and those that come in their stead (PROTOCOL section 7).
///
/// The room decides whose place a socket takes. What a place has at its shard is its log: the slot's number of the last event, and the
/// last events themselves. It goes from the old slot's shard straight to the new one's. Until it is there, what the room says to the new
/// slot is held, so that the replay comes first; and frames are not, for a frame of that moment is not worth waiting for.
extension Shard {
    /// A socket is gone. Its member stays in its slot as long as the room wants it to.
    func loseLink(of member: Member, _ reason: DisconnectReason) {
        member.link = .lost
        counters.participantsAway += 1
        // The room knows nothing any more of one that only waits for what it is to pass on.
        tell(.connectionLost(member.handle, reason), roomOf: member)
    }

    /// Whether somebody may come back after this. Who closed in good order, or was sent away for what it did, may not, nor who has no
    /// token for it: who never was greeted, unless it came with one.
    func isLoss(_ end: ConnectionEnd, of member: Member) -> Bool {
        if member.successor != nil { return true }
        guard member.wasGreeted || member.resumption != nil || member.owesProof, !member.isNowhere else { return false }
        switch end {
        // A line that fell silent is a lost one, found out by us.
        case .closed(let reason): return reason == .pingTimeout
        case .lost: return !member.connection.wasClosedByPeer
        }
    }

    /// The room has given up the place of somebody without a socket.
    func endAbsence(of member: Member) {
        counters.participants -= 1
        counters.participantsAway -= 1
        freeSlot(member.handle)
        finishDrainIfEmpty()
    }

    /// Somebody who is back has got its `hello`, and the token in it.
    func confirmResume(of member: Member) {
        member.owesProof = false
        tell(.resumeConfirmed(member.handle), roomOf: member)
    }

    // MARK: From slot to slot

    /// A place changes slots. Done on the new slot's shard, then on the old one's.
    func handOver(from old: ParticipantHandle, to new: ParticipantHandle) {
        member(at: new)?.awaitsLog = true
        guard Int(old.shard) == index else { return }
        guard let member = member(at: old) else { return give(nil, to: new) }
        forget(member)
        if member.awaitsLog {
            // It has nothing to give yet; what comes is passed on.
            member.successor = new
            if member.link == .up { finish(member, .duplicateIdentity) }
        } else {
            give(SessionHandover(of: member), to: new)
            end(member)
        }
    }

    /// By mail also to ourselves: what the room does after this must not be done after what comes of it.
    private func give(_ handover: SessionHandover?, to new: ParticipantHandle) {
        common.mailboxes[Int(new.shard)].post(.takeOver(new, handover))
    }

    /// The slot has given away what it had. A socket that is still there is half-open, or about to be lost.
    private func end(_ member: Member) {
        if member.link == .lost { endAbsence(of: member) } else { finish(member, .duplicateIdentity) }
    }

    private func pass(_ handover: SessionHandover?, from member: Member, to successor: ParticipantHandle) {
        member.successor = nil
        counters.resumes[.resumed, default: 0] += 1
        var handover = handover
        // The first is its `hello`, which nobody needs.
        for event in member.held.dropFirst() { _ = handover?.log.append(event, at: clock.now) }
        give(handover, to: successor)
        end(member)
    }

    /// What the old slot had: tells the new one's socket what it missed, and then what was held.
    func takeOver(_ handle: ParticipantHandle, _ handover: SessionHandover?) {
        guard let member = member(at: handle), member.awaitsLog, let ticket = member.resumption else { return }
        member.awaitsLog = false
        member.resumption = nil
        if let successor = member.successor { return pass(handover, from: member, to: successor) }
        var handover = handover
        if let seq = ticket.lastSeq { handover?.log.removeHellos(after: seq) }
        let missed = handover.flatMap { handover in ticket.lastSeq.flatMap(handover.log.events) }
        // Lost again by now, it is looked into when the next socket comes.
        if member.link == .up, missed == nil {
            counters.resumes[.missed, default: 0] += 1
            counters.joins += 1
            joinAnew(member, ticket)
            return
        }
        counters.resumes[.resumed, default: 0] += 1
        if let handover { member.take(handover) }
        member.owesProof = true
        // All of it may have to wait, and is no sign of a slow consumer.
        member.outbox.controlBytesMax += (missed ?? []).reduce(0) { $0 + $1.event.byteCount }
        for (seq, event) in missed ?? [] { send(event.bytes(seq: seq), to: member) }
        let held = member.held
        member.held = []
        for event in held { send(event, to: member) }
    }

    /// Too much was missed: gives the place back and joins like everybody else, on the same socket.
    private func joinAnew(_ member: Member, _ ticket: JoinTicket) {
        let connection = member.connection
        let handle = takeSlot()
        let newcomer = Member(
            handle: handle, connection: connection, kind: member.kind, joinStartedAt: member.joinStartedAt, now: clock.now)
        newcomer.deliveryProbe = member.deliveryProbe
        slots[Int(handle.slot)] = newcomer
        connection.slot = Int(handle.slot)
        leaveRoom(member, .duplicateIdentity)
        join(newcomer, ticket.withoutClaim)
    }

    /// Holds an event for a slot whose log is on its way. That takes two mails; who is told more in that time than can be replayed is
    /// sent away, to come again.
    func hold(_ event: EncodedEvent, for member: Member) {
        guard member.held.count < ProtocolLimits.resumeEventsMax else { return finish(member, .resumeWindowOver) }
        member.held.append(event)
    }
}

/// What goes from an old slot to a new one.
struct SessionHandover: Sendable {
    var log: EventLog
    let framesSent: UInt64
    let framesDropped: UInt64

    init(of member: Member) {
        log = member.log
        framesSent = member.framesSent
        framesDropped = member.framesDropped
    }
}

/// What became of those who wanted to resume, as `/metrics` names it.
enum ResumeOutcome: String, CaseIterable {
    /// The place was taken back.
    case resumed
    /// No such place, or another's, or the token was an old one.
    case refused
    /// The place was there, but not all that was missed.
    case missed
}
