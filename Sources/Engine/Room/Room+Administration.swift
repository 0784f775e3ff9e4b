import Wire

extension Room {
    /// Does what an administrator wants. What names somebody or something that is not there does nothing: the shell has
    /// looked before, and answers for it.
    mutating func administer(_ command: AdminCommand, at now: Instant, into effects: inout [Effect]) {
        switch command {
        case .delete: close(.roomDeleted, at: now, into: &effects)
        case .close(let reason): close(reason, at: now, into: &effects)
        case .sendData(let message): deliver(message, from: nil, to: recipients(of: message.to), into: &effects)
        case .startRecording: startRecording(into: &effects)
        case .stopRecording(let id, let end): stopRecording(id, end, into: &effects)
        case .remove(let identity):
            if let handle = handles[identity] { depart(handle, .participantRemoved, closing: .removed, at: now, into: &effects) }
        case .mute(let track, let muted): setMuted(muted, track, at: now, into: &effects)
        case .updateMetadata(let metadata):
            guard settings.metadata != metadata else { return }
            settings.metadata = metadata
            send(.roomUpdated(info), to: everyone, into: &effects)
        case .updatePermission(let identity, let permission):
            if let index = handles[identity].flatMap(members.index) { update(permission, ofMemberAt: index, at: now, into: &effects) }
        case .hold(let identity, let held):
            if let index = handles[identity].flatMap(members.index) { hold(held, by: nil, at: index, now: now, into: &effects) }
        case .muteParticipant(let identity, let silenced):
            if let index = handles[identity].flatMap(members.index) { silence(silenced, ofMemberAt: index, at: now, into: &effects) }
        }
    }

    /// Takes effect at once: tracks that may no longer be are unpublished, and what is no longer to be heard stops.
    /// What was subscribed comes back with `canSubscribe`.
    private mutating func update(_ permission: Permission, ofMemberAt index: Int, at now: Instant, into effects: inout [Effect]) {
        var permission = permission
        // Whether somebody is hidden is decided at the door: others cannot be made to forget it.
        permission.hidden = members[at: index].isHidden
        guard members[at: index].permission != permission else { return }
        updateSubscriptions(index, at: now, into: &effects) { $0.permission = permission }
        let handle = members[at: index].handle
        let forbidden = trackInfos(of: members[at: index]).filter { !permission.allows($0.source) }
        for track in forbidden {
            if let track = tracks[track.sid] { untap(track, into: &effects) }
            patch(.unpublish(track.alias, by: handle), into: &effects)
            removeTrack(track.sid, at: now, into: &effects)
        }
        if !forbidden.isEmpty { sendSpeakerChanges(at: now, into: &effects) }
        sendUpdate(ofMemberAt: index, at: now, into: &effects)
    }
}
