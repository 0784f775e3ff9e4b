import Wire

extension Room {
    /// A wish is remembered even while it cannot be granted (on hold). Not to hear needs no grant.
    mutating func subscribe(
        _ requester: Requester, at index: Int, to sid: TrackSID, _ subscribed: Bool, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        guard track.publisher != requester.handle else {
            throw RequestError(.invalidArgument, "nobody is sent a track of its own")
        }
        guard members[at: index].permission.canSubscribe || !subscribed else {
            throw RequestError(.notAllowed, "the token does not allow to subscribe")
        }
        // The reply comes first: a frame may not overtake it.
        reply(to: requester, into: &effects)
        updateSubscriptions(index, at: now, into: &effects) { $0.subscriptionOverrides[sid] = subscribed }
    }

    /// - Parameter from: where on an `ahead` track to go on; nil is where it is now.
    mutating func subscribe(_ subscriber: ParticipantHandle, to track: Track, from: MediaTime? = nil, into effects: inout [Effect]) {
        subscriptionCount &+= 1
        let (mode, epoch, frameMs) = (track.info.mode, track.info.epoch, track.info.frameMs)
        let options = SubscriptionOptions(mode: mode, epoch: epoch, from: from, frameMilliseconds: frameMs, number: subscriptionCount)
        patch(.subscribe(subscriber, to: track.info.alias, of: track.publisher, options), into: &effects)
    }

    /// Changes something about a subscriber, and patches what it hears by that more or less than before.
    mutating func updateSubscriptions(_ index: Int, at now: Instant, into effects: inout [Effect], by change: (inout Member) -> Void) {
        let before = members[at: index]
        change(&members[at: index])
        let after = members[at: index]
        for track in tracks.values {
            switch (before.isSubscribed(to: track), after.isSubscribed(to: track)) {
            case (false, true):
                subscribe(after.handle, to: track, into: &effects)
            case (true, false):
                patch(.unsubscribe(after.handle, to: track.info.alias, of: track.publisher), into: &effects)
                forgetProgress(of: after.identity, on: track.info.sid, at: now, into: &effects)
            default: break
            }
        }
    }
}
