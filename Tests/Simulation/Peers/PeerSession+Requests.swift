internal import Engine
internal import Wire

/// A pending request, as far as its reply changes the peer's state.
enum PendingRequest {
    case publish
    case unpublish(TrackSID)
    case mute(TrackSID, Bool)
    case hold(Bool)
    case subscribe(TrackSID, Bool)
    case clear(TrackSID)
    case mark(String)
    case other
}

/// Requests and replies: exactly one for each request.
extension PeerSession {
    @discardableResult
    func sendRequest(_ request: Request, _ meaning: PendingRequest = .other) -> UInt64 {
        lastID += 1
        pendingRequests[lastID] = meaning
        world.log("\(self) sends request \(lastID): \(request)")
        connection.send(.text(OutgoingRequest(request, id: lastID).bytes))
        return lastID
    }

    func take(_ id: UInt64, _ fields: ReplyFields) {
        guard let meaning = takePending(id) else { return }
        switch meaning {
        case .publish:
            guard let track = fields.track else { return world.fail("\(self) gets a `track.publish` reply without a track") }
            begin(track)
        case .unpublish(let sid): end(of: sid)
        case .mute(let sid, let muted):
            guard let index = published.firstIndex(where: { $0.sid == sid }), published[index].lastMute == id else { return }
            published[index].isMuted = muted
        case .hold(let held):
            if !held { resubscribed.formUnion(epochs.keys) }
            guard lastHold == id else { return }
            isHeld = held
            holdSince = held ? world.now : nil
        case .subscribe(let sid, let subscribed):
            if subscribed { resubscribed.insert(sid) }
            guard lastSubscribe[sid] == id else { return }
            unsubscribedSince[sid] = subscribed ? nil : world.now
        case .clear(let sid):
            world.expect(
                fields.epoch != nil && fields.playedMs != nil && fields.discardedMs != nil,
                "\(self) gets a `playout.clear` reply without its fields")
            if let epoch = fields.epoch { raise(sid, to: epoch) }
        case .mark, .other: break
        }
    }

    func take(_ id: UInt64?, _ error: RequestError) {
        guard let id else {
            unreadableAnswered += 1
            return world.expect(unreadableAnswered <= unreadableSent, "\(self) gets more errors than it sent unreadable messages")
        }
        if case .mark(let name)? = takePending(id) { marks.remove(name) }
    }

    private func takePending(_ id: UInt64) -> PendingRequest? {
        world.expect(hello != nil || isResumed, "\(self) gets a reply before hello")
        guard let meaning = pendingRequests.removeValue(forKey: id) else {
            world.fail("\(self) gets a reply to \(id), which was never sent or is answered already")
            return nil
        }
        return meaning
    }

    /// Starts talking on a published track.
    func begin(_ info: TrackInfo) {
        if tracks[info.sid] == nil { name(info) }
        published.append(
            OwnTrack(
                info, sequence: UInt16(truncatingIfNeeded: world.random.next()), timestamp: UInt32(truncatingIfNeeded: world.random.next()),
                now: world.now))
        world.schedule.add(.speaks(session: number, track: published.count - 1), at: world.now)
        if isSettling { requestUnmute(published.count - 1) }
    }

    func end(of sid: TrackSID) {
        if let index = published.firstIndex(where: { $0.sid == sid }) { published[index].isUnpublished = true }
    }

    // MARK: Liveness phase

    /// Ends hold, subscribes to all tracks, and unmutes or publishes its own.
    func settle() {
        isSettling = true
        guard hello != nil, !isOver else { return }
        lastHold = sendRequest(.hold(false), .hold(false))
        isHeld = false
        holdSince = nil
        for track in trackOrder { requestSubscription(track) }
        for track in published.indices where !published[track].isUnpublished { requestUnmute(track) }
        if !published.contains(where: { !$0.isUnpublished }), permission.canPublish, !permission.hidden {
            sendRequest(.publish(PublishTrack(frameMs: world.swarm.frameMilliseconds)), .publish)
        }
    }

    func requestSubscription(_ sid: TrackSID) {
        guard permission.canSubscribe, tracks[sid]?.participant != peer.identity else { return }
        unsubscribedSince[sid] = nil
        lastSubscribe[sid] = sendRequest(.subscribe(sid, subscribed: true), .subscribe(sid, true))
    }

    private func requestUnmute(_ track: Int) {
        published[track].isMuted = false
        let id = sendRequest(.mute(published[track].sid, muted: false), .mute(published[track].sid, false))
        published[track].lastMute = id
        // Up to a minute of earlier speech must not delay the utterance.
        if published[track].mode == .ahead { bargeIn(published[track].sid) }
    }
}
