import Wire

/// Coming back: a index is kept for whoever lost its socket, and given to the socket that shows the index's resume token.
///
/// For the room a participant that comes back is the same one under another handle. All that it is and has stays; only the patches
/// change, and those who listen to it or whom it hears are told nothing.
extension Room {
    /// Whose index this admission takes back: the one of its own identity, if it shows that index's token. Nil is a fresh join.
    ///
    /// Whoever holds somebody else's token gets nothing by it, for the index is looked up by the identity that the access token proves.
    package func resumable(by admission: Admission) -> ParticipantHandle? {
        guard let shown = admission.resuming, let handle = handles[admission.identity], let member = members[handle],
            member.sessionID == admission.sessionID, member.kind == admission.kind, member.receivesText == admission.receivesText,
            !shown.isEmpty
        else { return nil }
        let isNewest = isSameSecret(shown, member.resumeToken)
        let isFormer = member.formerToken.map { isSameSecret(shown, $0) } ?? false
        return isNewest || isFormer ? handle : nil
    }

    /// A socket is lost: keeps the index for a while and says so.
    mutating func loseConnection(of handle: ParticipantHandle, _ reason: DisconnectReason, at now: Instant, into effects: inout [Effect]) {
        guard let index = members.index(of: handle), members[at: index].reconnectWindow == nil else { return }
        let reconnectWindow = ReconnectWindow(until: now + settings.resumeWindow, reason: reason)
        members[at: index].reconnectWindow = reconnectWindow
        procedures.forgetRequests(of: handle)
        // A gateway that is about to stop lets nobody in, so nobody comes back either.
        guard reconnectWindow.until > now, !isDraining else {
            depart(handle, reason, closing: .resumeWindowOver, at: now, into: &effects)
            return
        }
        wakeUp.include(reconnectWindow.until)
        let member = members[at: index]
        send(.participantUpdated(member.info(), connection: .reconnecting), to: witnesses(of: member), into: &effects)
    }

    /// Gives a index to another socket. The old one may still seem to be alive.
    mutating func resume(
        _ old: ParticipantHandle, as new: ParticipantHandle, _ admission: Admission, at now: Instant, into effects: inout [Effect]
    ) {
        guard let index = members.index(of: old) else { return }
        let heard = tracks.values.filter { members[at: index].isSubscribed(to: $0) }
        for track in heard { patch(.unsubscribe(old, to: track.info.alias, of: track.publisher), into: &effects) }
        let wasAway = members[at: index].reconnectWindow != nil
        rename(old, to: new)
        members[at: index].reconnectWindow = nil
        members[at: index].formerToken = admission.resuming
        members[at: index].resumeToken = admission.resumeToken
        let member = members[at: index]
        for track in member.tracks.compactMap({ tracks[$0] }) {
            let subscribers = members.values.filter { $0.isSubscribed(to: track) }.map(\.handle)
            let gate = track.gate(by: member)
            patch(.move(track.info, from: old, to: new, gate, subscribers: subscribers), into: &effects)
            tap(track, into: &effects)
        }
        // After the tracks: what they take along is at the new slot's shard before the log, and so before the new socket's first frame.
        emit(.handOver(from: old, to: new), into: &effects)
        send(.hello(hello(for: member, admission, resumed: true)), to: [new], into: &effects)
        for track in heard {
            // An `ahead` track goes on where the subscriber itself said that it was.
            subscribe(new, to: track, from: lastProgress(of: member.identity, on: track.info.sid), into: &effects)
        }
        // The meters begin anew with the patches: what was under way is told to have ended, so that every start keeps its one stop.
        for sid in member.tracks {
            if let track = tracks.index(of: sid), tracks[at: track].info.mode == .live {
                interruptTalk(at: track, .silence, now: now, into: &effects)
            }
        }
        if wasAway { send(.participantUpdated(member.info(), connection: .connected), to: witnesses(of: member), into: &effects) }
    }

    /// Gives up the indices of those who did not come back in time.
    mutating func expireReconnectWindows(at now: Instant, into effects: inout [Effect]) {
        expireReconnectWindows(at: now, into: &effects) { $0.until <= now }
    }

    /// Nobody is let in any more: who is away has left.
    mutating func drain(deadline: Int64, at now: Instant, into effects: inout [Effect]) {
        isDraining = true
        send(.serverDraining(deadline: deadline), to: everyone, into: &effects)
        expireReconnectWindows(at: now, into: &effects) { _ in true }
    }

    private mutating func expireReconnectWindows(at now: Instant, into effects: inout [Effect], where isOver: (ReconnectWindow) -> Bool) {
        guard (0..<members.count).contains(where: { members[at: $0].reconnectWindow != nil }) else { return }
        for member in members.values {
            guard let reconnectWindow = member.reconnectWindow, isOver(reconnectWindow) else { continue }
            depart(member.handle, reconnectWindow.reason, closing: .resumeWindowOver, at: now, into: &effects)
        }
    }

    private mutating func rename(_ old: ParticipantHandle, to new: ParticipantHandle) {
        guard let index = members.index(of: old) else { return }
        members.rename(old, to: new)
        members[at: index].handle = new
        handles[members[at: index].identity] = new
        for sid in members[at: index].tracks {
            if let track = tracks.index(of: sid) { tracks[at: track].publisher = new }
        }
        procedures.forgetRequests(of: old)
        procedures.rename(old, to: new)
    }
}

/// Whether two secrets are equal, in a time that depends on their lengths only: an ordinary comparison stops at the first difference, and
/// tells by that how much of a guess was right.
private func isSameSecret(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
}
