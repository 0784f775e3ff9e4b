internal import Wire

extension Room {
    /// Publishes a track. Subscriptions follow the event that announces it, and the reply comes last, so that frames sent at once
    /// reach all subscribers.
    mutating func publish(_ description: PublishTrack, by requester: Requester, at index: Int) throws(RequestError) {
        let participant = members[at: index]
        try description.check()
        guard !participant.isHidden else { throw RequestError(.notAllowed, "a hidden participant cannot publish") }
        guard participant.permission.allows(description.source) else {
            throw RequestError(.notAllowed, "the token does not allow publishing a track of source \(description.source.rawValue)")
        }
        guard participant.tracks.count < Limits.tracksPerParticipantMax else {
            throw RequestError(.limitExceeded, "\(Limits.tracksPerParticipantMax) tracks are published already; unpublish one first")
        }
        guard let track = tracks.publish(description, as: identifiers.track(), by: participant, at: now) else {
            throw RequestError(.limitExceeded, "the room has no track alias left; try again later", retryable: true)
        }
        let info = track.info
        members[at: index].tracks.append(info.sid)

        patch(.publish(info, by: participant.handle))
        let gate = track.gate(by: participant)
        if gate != .open { patch(.gate(info.alias, by: participant.handle, gate)) }
        keepSpeech(of: track)
        send(.trackPublished(info), to: members.handles(except: participant.handle))
        for subscriber in members.participants where subscriber.isSubscribed(to: track) {
            subscribe(subscriber.handle, to: track)
        }
        reply(.published(info), to: requester)
        tap(track)
        audit(.published(info, by: participant.stay.sid))
        watchSilence(ofParticipantAt: index)
    }

    mutating func unpublish(_ sid: TrackSID, by requester: Requester) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        guard track.publisher == requester.handle else { throw RequestError(.notAllowed, "only the publisher of a track can unpublish it") }
        untap(track)
        patch(.unpublish(track.info.alias, by: requester.handle))
        reply(to: requester)
        removeTrack(sid)
        sendSpeakerChanges()
    }

    /// Removes a track whose patch is gone already, and notifies everybody. Subscriptions ended with the patch.
    mutating func removeTrack(_ sid: TrackSID) {
        endPlayout(of: sid)
        guard let index = tracks.index(of: sid) else { return }
        interruptTalk(at: index, .left)
        guard let track = tracks.remove(sid) else { return }
        members.awaited.remove(track: sid)
        for index in 0..<members.count where members[at: index].subscriptionOverrides[sid] != nil {
            members[at: index].subscriptionOverrides[sid] = nil
        }
        if let publisher = members.index(of: track.publisher) {
            members[at: publisher].tracks.removeAll { $0 == sid }
            watchSilence(ofParticipantAt: publisher)
        }
        send(.trackUnpublished(sid, of: track.info.participant), to: everyone)
        audit(.unpublished(track.info, by: track.publisherSID))
        playoutEnded(ofAgent: track.publisher)
    }
}

/// Subscriptions.
extension Room {
    /// Stores a subscription even while it cannot take effect (on hold).
    mutating func subscribe(_ requester: Requester, at index: Int, to sid: TrackSID, _ subscribed: Bool) throws(RequestError) {
        try checkSubscription(of: members[at: index], to: sid, subscribed)
        // The reply comes first: no frame may overtake it.
        reply(to: requester)
        updateSubscriptions(index) { $0.subscriptionOverrides[sid] = subscribed }
        if subscribed { noteSubscribed(requester.handle) }
    }

    /// Unsubscribing needs no grant.
    func checkSubscription(of participant: Participant, to sid: TrackSID, _ subscribed: Bool) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        guard track.publisher != participant.handle else {
            throw RequestError(.invalidArgument, "a participant cannot subscribe to its own track")
        }
        guard participant.permission.canSubscribe || !subscribed else {
            throw RequestError(.notAllowed, "the token does not allow subscribing")
        }
    }

    /// - Parameter from: media time at which to continue an `ahead` track; nil for the current position.
    mutating func subscribe(_ subscriber: ParticipantHandle, to track: Track, from: MediaTime? = nil) {
        let (mode, epoch, frameMs) = (track.info.mode, track.info.epoch, track.info.frameMs)
        let number = tracks.nextSubscriptionNumber()
        let options = SubscriptionOptions(
            mode: mode, epoch: epoch, from: from, frameMilliseconds: frameMs, number: number,
            earlier: earlierSpeech(of: track, for: subscriber))
        patch(.subscribe(subscriber, to: track.info.alias, of: track.publisher, options))
    }

    /// Applies a change to a participant and patches the subscriptions that differ afterwards.
    mutating func updateSubscriptions(_ index: Int, by change: (inout Participant) -> Void) {
        let before = members[at: index]
        change(&members[at: index])
        let after = members[at: index]
        for track in tracks.values {
            switch (before.isSubscribed(to: track), after.isSubscribed(to: track)) {
            case (false, true):
                subscribe(after.handle, to: track)
            case (true, false):
                patch(.unsubscribe(after.handle, to: track.info.alias, of: track.publisher))
                removeProgress(of: after.identity, on: track.info.sid)
            default: break
            }
        }
    }
}

extension RequestError {
    static let noSuchTrack = RequestError(.notFound, "no such track in the room; it may have been unpublished")
}
