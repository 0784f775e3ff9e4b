import Wire

extension Room {
    mutating func join(_ handle: ParticipantHandle, _ admission: Admission, at now: Instant, into effects: inout [Effect]) {
        precondition(!members.contains(handle), "a seat cannot join twice; its generation must change")
        guard admissionError(for: admission) == nil else {
            // The shell has asked before the upgrade; this one lost the last index on its way from there to here.
            effects.append(.close(handle, .limit))
            reportAborted(handle, admission, at: now, into: &effects)
            return
        }
        if let index = resumable(by: admission) {
            resume(index, as: handle, admission, at: now, into: &effects)
            return
        }
        if let old = handles[admission.identity] {
            depart(old, .duplicateIdentity, closing: .duplicateIdentity, at: now, into: &effects)
        }
        let member = Member(
            admission, handle: handle, sid: identifiers.participant(), silenceLimit: settings.silenceLimit, at: now)
        members.append(member, for: handle)
        handles[member.identity] = handle
        wakeUp.include(member.refreshAt)
        if !member.kind.isDependent {
            independentCount += 1
            emptyRoomTimeout.cancel()
        }
        welcome(member, admission, into: &effects)
        let joined = member.info(tracks: [])
        send(.participantJoined(joined), to: witnesses(of: member), into: &effects)
        if member.kind == .agent { send(.agentJoined(joined), to: witnesses(of: member), into: &effects) }
        tell(.joined(joined, sessionID: member.sessionID), into: &effects)
        for track in tracks.values where member.isSubscribed(to: track) {
            subscribe(handle, to: track, into: &effects)
        }
    }

    private mutating func reportAborted(
        _ handle: ParticipantHandle, _ admission: Admission, at now: Instant, into effects: inout [Effect]
    ) {
        guard settings.reporting.reportsEvents else { return }
        let member = Member(admission, handle: handle, sid: identifiers.participant(), silenceLimit: settings.silenceLimit, at: now)
        tell(.aborted(member.info(tracks: []), sessionID: member.sessionID, .joinFailure), into: &effects)
    }

    /// Tells a newcomer how things stand, so that what it hears later makes sense: each stop has its start, each change
    /// something that it changes.
    private func welcome(_ member: Member, _ admission: Admission, into effects: inout [Effect]) {
        let audience = [member.handle]
        let others = members.values.filter { !$0.isHidden && $0.handle != member.handle }
        let resumed = admission.resuming == nil ? nil : false
        send(.hello(hello(for: member, admission, resumed: resumed)), to: audience, into: &effects)
        if let recording { send(.recordingStarted(recording), to: audience, into: &effects) }
        for segment in transcript.segments where member.receivesText { send(.segment(segment), to: audience, into: &effects) }
        for other in others where other.isHeld { send(.callHeld(by: other.identity), to: audience, into: &effects) }
        for other in others where other.isMutedByAdmin { send(.callMuted(by: other.identity), to: audience, into: &effects) }
        for other in others where other.reconnectWindow != nil {
            send(.participantUpdated(other.info(), connection: .reconnecting), to: audience, into: &effects)
        }
        for other in others where other.quality.level != .excellent {
            send(.qualityChanged(other.identity, other.quality.level), to: audience, into: &effects)
        }
        for track in tracks.values {
            guard let start = track.talk.start else { continue }
            send(.talkStarted(track.info.participant, track.info.sid, at: start), to: audience, into: &effects)
        }
        for (sid, playout) in zip(playouts.keys, playouts.values) {
            guard let utterance = playout.utterance, let info = tracks[sid]?.info else { continue }
            send(.playoutStarted(sid, of: info.participant, epoch: playout.epoch, at: utterance.first), to: audience, into: &effects)
        }
        if !speakers.active.isEmpty { send(.speakersChanged(speakers.active), to: audience, into: &effects) }
    }

    /// - Parameter resumed: as the wire has it. Who comes back is told its own tracks too, for it may have missed an answer.
    func hello(for member: Member, _ admission: Admission, resumed: Bool?) -> Hello {
        let others = members.values.filter { !$0.isHidden && $0.handle != member.handle }
        return Hello(
            server: admission.server, room: info, participant: member.info(tracks: resumed == true ? trackInfos(of: member) : nil),
            participants: others.map { $0.info(tracks: trackInfos(of: $0)) }, sessionId: admission.sessionID,
            session: member.kind == .agent ? admission.briefing : nil, resumeToken: admission.resumeToken, resumed: resumed)
    }
}
