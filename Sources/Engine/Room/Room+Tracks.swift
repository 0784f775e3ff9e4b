import Wire

extension Room {
    /// The subscribers come after the event that names the track to them, and the reply comes last, so that a frame sent at once finds
    /// everybody.
    mutating func publish(
        _ description: PublishTrack, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let member = members[at: index]
        try description.check()
        guard !member.isHidden else { throw RequestError(.notAllowed, "a hidden participant cannot publish") }
        guard member.permission.allows(description.source) else {
            throw RequestError(.notAllowed, "the token does not allow to publish a track of source \(description.source.rawValue)")
        }
        guard member.tracks.count < Limits.tracksPerParticipantMax else {
            throw RequestError(.limitExceeded, "\(Limits.tracksPerParticipantMax) tracks are published already; unpublish one first")
        }
        guard let alias = aliases.allocate() else {
            throw RequestError(.limitExceeded, "the room has no track alias left; try again later", retryable: true)
        }
        let info = TrackInfo(sid: identifiers.track(), alias: alias, participant: member.identity, description: description)
        let track = Track(info: info, publisher: member.handle, publisherSID: member.sid)
        tracks.append(track, for: info.sid)
        members[at: index].tracks.append(info.sid)
        if info.mode == .ahead { playouts.append(Playout(epoch: info.epoch, at: now), for: info.sid) }
        speakers.add(info.sid, of: member.identity, at: now)

        patch(.publish(info, by: member.handle), into: &effects)
        let gate = track.gate(by: member)
        if gate != .open { patch(.gate(alias, by: member.handle, gate), into: &effects) }
        send(.trackPublished(info), to: everyone(but: member.handle), into: &effects)
        for subscriber in members.values where subscriber.isSubscribed(to: track) {
            subscribe(subscriber.handle, to: track, into: &effects)
        }
        reply(.published(info), to: requester, into: &effects)
        tap(track, into: &effects)
        tell(.published(info, by: member.sid), into: &effects)
        watchSilence(ofMemberAt: index, at: now)
    }

    mutating func unpublish(_ sid: TrackSID, by requester: Requester, now: Instant, into effects: inout [Effect]) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        guard track.publisher == requester.handle else { throw RequestError(.notAllowed, "the track is somebody else's") }
        untap(track, into: &effects)
        patch(.unpublish(track.info.alias, by: requester.handle), into: &effects)
        reply(to: requester, into: &effects)
        removeTrack(sid, at: now, into: &effects)
        sendSpeakerChanges(at: now, into: &effects)
    }

    /// Forgets a track whose patch is gone already, and tells everybody who is left. With a patch its subscribers end.
    mutating func removeTrack(_ sid: TrackSID, at now: Instant, into effects: inout [Effect]) {
        endPlayout(of: sid, at: now, into: &effects)
        guard let index = tracks.index(of: sid) else { return }
        interruptTalk(at: index, .left, now: now, into: &effects)
        guard let track = tracks.remove(sid) else { return }
        aliases.release(track.info.alias)
        speakers.remove(sid)
        for index in 0..<members.count where members[at: index].subscriptionOverrides[sid] != nil { members[at: index].subscriptionOverrides[sid] = nil }
        if let publisher = members.index(of: track.publisher) {
            members[at: publisher].tracks.removeAll { $0 == sid }
            watchSilence(ofMemberAt: publisher, at: now)
        }
        send(.trackUnpublished(sid, of: track.info.participant), to: everyone, into: &effects)
        tell(.unpublished(track.info, by: track.publisherSID), into: &effects)
        playoutEnded(ofAgent: track.publisher, into: &effects)
    }
}

extension RequestError {
    static let noSuchTrack = RequestError(.notFound, "no such track in the room; it may have been unpublished")
}
