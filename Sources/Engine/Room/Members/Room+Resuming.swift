internal import Wire

/// Resuming: a participant that loses its connection is kept for a while, and a client that presents its resume token takes over.
///
/// To the room a resumed participant is the same one under another handle: its state stays, patches are replaced, and its
/// subscribers and publishers see no event.
extension Room {
    /// Whether an admission resumes a participant. Otherwise it is a fresh join.
    package func isResumable(by admission: Admission) -> Bool { resumption(by: admission) != nil }

    /// The participant that an admission resumes, and its tokens from then on: the one of its own identity, if the resume token matches.
    ///
    /// The earlier node of a room may have announced tokens after the image. They match until the participant resumes here.
    func resumption(by admission: Admission) -> (ParticipantHandle, ResumeTokens)? {
        guard let participant = members[admission.identity] else { return nil }
        let ahead = members.isRestored(participant.handle) ? Limits.resumeTokensAheadMax : 0
        return participant.tokens(resumedBy: admission, orAhead: ahead, deriveToken).map { (participant.handle, $0) }
    }

    /// Handles a lost connection: keeps the participant for the resume window and reports it as reconnecting.
    mutating func loseConnection(of handle: ParticipantHandle, _ reason: DisconnectReason) {
        guard let index = members.index(of: handle), !members[at: index].connection.isLost else { return }
        let reconnectWindow = ReconnectWindow(since: now, length: settings.resumeWindow, reason: reason)
        members[at: index].connection.reconnectWindow = reconnectWindow
        procedures.forgetRequests(of: handle)
        // A draining gateway accepts no joins, so nobody could resume.
        guard reconnectWindow.until > now, phase != .draining else {
            depart(handle, reason, closing: .resumeWindowOver)
            return
        }
        wakeUp(by: reconnectWindow.until)
        let participant = members[at: index]
        send(.participantUpdated(participant.info(), connection: .reconnecting), to: members.witnesses(of: participant))
        report(.away, of: participant)
    }

    /// Moves a participant to another socket. The old one may still be open.
    mutating func resume(_ old: ParticipantHandle, as new: ParticipantHandle, _ admission: Admission, _ tokens: ResumeTokens) {
        guard let index = members.index(of: old) else { return }
        let subscribed = tracks.values.filter { members[at: index].isSubscribed(to: $0) }
        for track in subscribed { patch(.unsubscribe(old, to: track.info.alias, of: track.publisher)) }
        let wasAway = members[at: index].connection.isLost
        let wasRestored = members.isRestored(old)
        rename(old, to: new)
        members[at: index].resume(with: tokens)
        let participant = members[at: index]
        if wasRestored { publishAgain(participant) } else { move(participant, from: old) }
        // After the patches of its tracks, so that the `ahead` state reaches the new shard before the log, and so before the first frame
        // of the new socket.
        emit(.handOver(from: old, to: new))
        if participant.connection.needsSnapshot {
            welcome(participant, admission, resumed: true)
        } else {
            send(.hello(hello(for: participant, admission, resumed: true)), to: [new])
        }
        for track in subscribed {
            // An `ahead` track continues at the position that the subscriber last reported.
            subscribe(new, to: track, from: lastProgress(of: participant.identity, on: track.info.sid))
        }
        // Meters restart with the patches: end the current talkspurt, so that each start has exactly one stop.
        for sid in participant.tracks {
            if let track = tracks.index(of: sid), tracks[at: track].info.mode == .live {
                interruptTalk(at: track, .silence)
            }
        }
        if wasAway {
            send(.participantUpdated(participant.info(), connection: .connected), to: members.witnesses(of: participant))
            report(.present, of: participant)
        }
        if wasRestored { watchSilence(ofParticipantAt: index) }
    }

    private mutating func move(_ participant: Participant, from old: ParticipantHandle) {
        for track in participant.tracks.compactMap({ tracks[$0] }) {
            let subscribers = members.participants.filter { $0.isSubscribed(to: track) && !members.isRestored($0.handle) }.map(\.handle)
            let gate = track.gate(by: participant)
            patch(.move(track.info, from: old, to: participant.handle, gate, subscribers: subscribers))
            tap(track)
            keepSpeechAgain(of: track)
        }
    }

    /// Removes participants whose resume window has expired.
    mutating func expireReconnectWindows() {
        expireReconnectWindows { [now] in $0.until <= now }
    }

    /// Removes disconnected participants and announces the shutdown.
    mutating func drain(deadline: Int64) {
        phase = .draining
        send(.serverDraining(deadline: deadline), to: everyone)
        expireReconnectWindows { _ in true }
    }

    private mutating func expireReconnectWindows(where isOver: (ReconnectWindow) -> Bool) {
        guard (0..<members.count).contains(where: { members[at: $0].connection.isLost }) else { return }
        for participant in members.participants {
            guard let reconnectWindow = participant.connection.reconnectWindow, isOver(reconnectWindow) else { continue }
            depart(participant.handle, reconnectWindow.reason, closing: .resumeWindowOver)
        }
    }

    private mutating func rename(_ old: ParticipantHandle, to new: ParticipantHandle) {
        guard let index = members.rename(old, to: new) else { return }
        for sid in members[at: index].tracks {
            if let track = tracks.index(of: sid) { tracks[at: track].publisher = new }
        }
        procedures.forgetRequests(of: old)
        procedures.rename(old, to: new)
    }
}
