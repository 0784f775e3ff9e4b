internal import Engine
internal import Wire

/// What was asked, as far as the answer means something to who asked.
enum Asked {
    case publish
    case unpublish(TrackSID)
    case mute(TrackSID, Bool)
    case hold(Bool)
    case subscribe(TrackSID, Bool)
    case clear(TrackSID)
    case mark(String)
    case other
}

/// Requests and their answers: each exactly one.
extension Stay {
    @discardableResult
    func ask(_ request: Request, _ meaning: Asked = .other) -> UInt64 {
        lastID += 1
        asked[lastID] = meaning
        world.note("\(self) asks \(lastID): \(request)")
        line.send(.text(OutgoingRequest(request, id: lastID).bytes))
        return lastID
    }

    func take(_ id: UInt64, _ fields: ReplyFields) {
        guard let meaning = takeAsked(id) else { return }
        switch meaning {
        case .publish:
            guard let track = fields.track else { return world.fail("\(self) has published a track without a name") }
            begin(track)
        case .unpublish(let sid): end(of: sid)
        case .mute(let sid, let muted):
            guard let place = published.firstIndex(where: { $0.sid == sid }), published[place].lastMute == id else { return }
            published[place].isMuted = muted
        case .hold(let held):
            if !held { listensAnew.formUnion(epochs.keys) }
            if !held { listensAnew.formUnion(epochs.keys) }
            guard lastHold == id else { return }
            isHeld = held
            deafSince = held ? world.now : nil
        case .subscribe(let sid, let subscribed):
            if subscribed { listensAnew.insert(sid) }
            if subscribed { listensAnew.insert(sid) }
            guard lastSubscribe[sid] == id else { return }
            unsubscribedSince[sid] = subscribed ? nil : world.now
        case .clear(let sid):
            world.expect(fields.epoch != nil && fields.playedMs != nil && fields.discardedMs != nil, "\(self) gets no account of a clear")
            if let epoch = fields.epoch { raise(sid, to: epoch) }
        case .mark, .other: break
        }
    }

    func take(_ id: UInt64?, _ error: RequestError) {
        guard let id else {
            unreadableAnswered += 1
            return world.expect(unreadableAnswered <= unreadableSent, "\(self) is told once too often that a message is unreadable")
        }
        if case .mark(let name)? = takeAsked(id) { marks.remove(name) }
    }

    private func takeAsked(_ id: UInt64) -> Asked? {
        world.expect(hello != nil || isResumed, "\(self) gets an answer before hello")
        guard let meaning = asked.removeValue(forKey: id) else {
            world.fail("\(self) gets an answer to \(id), which it has not asked or which was answered")
            return nil
        }
        return meaning
    }

    /// A track of one's own may be talked on.
    func begin(_ info: TrackInfo) {
        if tracks[info.sid] == nil { name(info) }
        published.append(
            OwnTrack(
                info, sequence: UInt16(truncatingIfNeeded: world.chance.next()), timestamp: UInt32(truncatingIfNeeded: world.chance.next()),
                now: world.now))
        world.agenda.add(.speaks(stay: number, track: published.count - 1), at: world.now)
        if isSettling { askToBeHeard(published.count - 1) }
    }

    func end(of sid: TrackSID) {
        if let place = published.firstIndex(where: { $0.sid == sid }) { published[place].isUnpublished = true }
    }

    // MARK: Asking for what one wants, when all is well

    /// From now on it wants to hear everybody and to be heard.
    func settle() {
        isSettling = true
        guard hello != nil, !isOver else { return }
        lastHold = ask(.hold(false), .hold(false))
        isHeld = false
        deafSince = nil
        for track in trackOrder { askToHear(track) }
        for track in published.indices where !published[track].isUnpublished { askToBeHeard(track) }
        if !published.contains(where: { !$0.isUnpublished }), permission.canPublish, !permission.hidden {
            ask(.publish(PublishTrack(frameMs: world.swarm.frameMilliseconds)), .publish)
        }
    }

    func askToHear(_ sid: TrackSID) {
        guard permission.canSubscribe, tracks[sid]?.participant != peer.identity else { return }
        unsubscribedSince[sid] = nil
        lastSubscribe[sid] = ask(.subscribe(sid, subscribed: true), .subscribe(sid, true))
    }

    private func askToBeHeard(_ track: Int) {
        published[track].isMuted = false
        let id = ask(.mute(published[track].sid, muted: false), .mute(published[track].sid, false))
        published[track].lastMute = id
        // What was said before, and may be a minute of speech, must not stand in the way.
        if published[track].mode == .ahead { bargeIn(published[track].sid) }
    }
}
