internal import Engine
internal import Sockets
internal import Wire

/// Sockets that are lost, and those that come in their stead (PROTOCOL section 7).
///
/// The room decides whose place a socket takes. What a place has at its shard is its log: the seat's number of the last event, and the
/// last events themselves. It goes from the old seat's shard straight to the new one's. Until it is there, what the room says to the new
/// seat is held, so that the replay comes first; and frames are not, for a frame of that moment is not worth waiting for.
extension Shard {
    /// A socket is gone. Its member stays in its seat as long as the room wants it to.
    func loseLink(of member: Member, _ reason: DisconnectReason) {
        member.link = .lost
        counters.participantsAway += 1
        // The room knows nothing any more of one that only waits for what it is to pass on.
        tell(.linkLost(member.handle, reason), roomOf: member)
    }

    /// Whether somebody may come back after this. Who closed in good order, or was sent away for what it did, may not, nor who has no
    /// token for it: who never was greeted, unless it came with one.
    func isLoss(_ end: SocketEnd, of member: Member) -> Bool {
        if member.heir != nil { return true }
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
        freeSeat(member.handle)
        finishDrainIfEmpty()
    }

    /// Somebody who is back has got its `hello`, and the token in it.
    func confirmResume(of member: Member) {
        member.owesProof = false
        tell(.resumeConfirmed(member.handle), roomOf: member)
    }

    // MARK: From seat to seat

    /// A place changes seats. Done on the new seat's shard, then on the old one's.
    func handOver(from old: ParticipantHandle, to new: ParticipantHandle) {
        member(at: new)?.awaitsLog = true
        guard Int(old.shard) == index else { return }
        guard let member = member(at: old) else { return give(nil, to: new) }
        forget(member)
        if member.awaitsLog {
            // It has nothing to give yet; what comes is passed on.
            member.heir = new
            if member.link == .up { finish(member, .duplicateIdentity) }
        } else {
            give(Luggage(of: member), to: new)
            end(member)
        }
    }

    /// By mail also to ourselves: what the room does after this must not be done after what comes of it.
    private func give(_ luggage: Luggage?, to new: ParticipantHandle) {
        common.mailboxes[Int(new.shard)].post(.takeOver(new, luggage))
    }

    /// The seat has given away what it had. A socket that is still there is half-open, or about to be lost.
    private func end(_ member: Member) {
        if member.link == .lost { endAbsence(of: member) } else { finish(member, .duplicateIdentity) }
    }

    private func pass(_ luggage: Luggage?, from member: Member, to heir: ParticipantHandle) {
        member.heir = nil
        counters.resumes[.resumed, default: 0] += 1
        var luggage = luggage
        // The first is its `hello`, which nobody needs.
        for event in member.held.dropFirst() { _ = luggage?.log.append(event, at: clock.now) }
        give(luggage, to: heir)
        end(member)
    }

    /// What the old seat had: tells the new one's socket what it missed, and then what was held.
    func takeOver(_ handle: ParticipantHandle, _ luggage: Luggage?) {
        guard let member = member(at: handle), member.awaitsLog, let ticket = member.resumption else { return }
        member.awaitsLog = false
        member.resumption = nil
        if let heir = member.heir { return pass(luggage, from: member, to: heir) }
        var luggage = luggage
        if let seq = ticket.lastSeq { luggage?.log.forgetGreetings(after: seq) }
        let missed = luggage.flatMap { luggage in ticket.lastSeq.flatMap(luggage.log.events) }
        // Lost again by now, it is looked into when the next socket comes.
        if member.link == .up, missed == nil {
            counters.resumes[.missed, default: 0] += 1
            counters.joins += 1
            joinAnew(member, ticket)
            return
        }
        counters.resumes[.resumed, default: 0] += 1
        if let luggage { member.take(luggage) }
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
        let handle = takeSeat()
        let newcomer = Member(
            handle: handle, connection: connection, kind: member.kind, joinStartedAt: member.joinStartedAt, now: clock.now)
        newcomer.receipts = member.receipts
        seats[Int(handle.seat)] = newcomer
        connection.seat = Int(handle.seat)
        leaveRoom(member, .duplicateIdentity)
        join(newcomer, ticket.withoutClaim)
    }

    /// Holds an event for a seat whose log is on its way. That takes two mails; who is told more in that time than can be replayed is
    /// sent away, to come again.
    func hold(_ event: EncodedEvent, for member: Member) {
        guard member.held.count < ProtocolLimits.resumeEventsMax else { return finish(member, .resumeWindowOver) }
        member.held.append(event)
    }
}

/// What goes from an old seat to a new one.
struct Luggage: Sendable {
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
