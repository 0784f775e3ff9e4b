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
        tell(.linkLost(member.handle, reason), roomOf: member)
    }

    /// Whether somebody may come back after this. Who closed in good order, or was sent away for what it did, may not, nor who was never
    /// told the token for it.
    func isLoss(_ end: SocketEnd, of member: Member) -> Bool {
        guard member.wasGreeted, !member.isNowhere else { return false }
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

    // MARK: From seat to seat

    /// A place changes seats. Done on the new seat's shard, then on the old one's.
    func handOver(from old: ParticipantHandle, to new: ParticipantHandle) {
        if let member = member(at: new) { member.link = .takingOver }
        guard Int(old.shard) == index else { return }
        // By mail also if it is ours: what the room does after this must not be done after what comes of it.
        let member = member(at: old)
        common.mailboxes[Int(new.shard)].post(.takeOver(new, member.map(Luggage.init)))
        guard let member else { return }
        forget(member)
        if member.link == .lost {
            endAbsence(of: member)
        } else {
            // Half-open, or about to be lost: nobody reads it any more.
            finish(member, .duplicateIdentity)
        }
    }

    /// What the old seat had: tells the new one's socket what it missed, and then what was held.
    func takeOver(_ handle: ParticipantHandle, _ luggage: Luggage?) {
        guard let member = member(at: handle), member.link == .takingOver, let ticket = member.resumption else { return }
        member.link = .up
        member.resumption = nil
        guard let luggage, let seq = ticket.lastSeq, let missed = luggage.log.events(after: seq) else {
            counters.resumes[.missed, default: 0] += 1
            counters.joins += 1
            joinAnew(member, ticket)
            return
        }
        counters.resumes[.resumed, default: 0] += 1
        member.take(luggage)
        // All of it may have to wait, and is no sign of a slow consumer.
        member.outbox.controlBytesMax += missed.reduce(0) { $0 + $1.event.byteCount }
        for (seq, event) in missed { send(event.bytes(seq: seq), to: member) }
        let held = member.held
        member.held = []
        for event in held { send(event, to: member) }
    }

    /// Too much was missed: gives the place back and joins like everybody else, on the same socket.
    private func joinAnew(_ member: Member, _ ticket: JoinTicket) {
        let connection = member.connection
        let handle = takeSeat()
        let newcomer = Member(
            handle: handle, connection: connection, kind: member.kind, joinStartedAt: member.joinStartedAt, now: loop.now)
        newcomer.receipts = member.receipts
        seats[Int(handle.seat)] = newcomer
        connection.seat = Int(handle.seat)
        leaveRoom(member, .duplicateIdentity)
        join(newcomer, ticket.withoutClaim)
    }

    /// Holds an event for a seat whose log is on its way. That takes two mails; more than can be replayed is more than can be held.
    func hold(_ event: EncodedEvent, for member: Member) {
        guard member.held.count < ProtocolLimits.resumeEventsMax else { return finish(member, .resumeWindowOver) }
        member.held.append(event)
    }
}

/// What goes from an old seat to a new one.
struct Luggage: Sendable {
    let log: EventLog
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
