internal import Wire

/// Requests to the gateway and their replies.
extension RoomSession {
    func send(_ request: Request, timeout: Duration, _ waiter: Waiter) {
        if let failure = requestFailure(pendingCount: pending.count) { return fail(waiter, failure) }
        let deadline = now + timeout
        guard let text = pending.add(waiter, deadline: deadline, encodedBy: { OutgoingRequest(request, id: $0).bytes }) else {
            return fail(waiter, .tooLarge)
        }
        connection?.send(text: text)
        wake(at: deadline)
    }

    /// Sends a request without asking for a reply.
    func notify(_ request: Request) {
        guard case .open = phase else { return }
        connection?.send(text: OutgoingRequest(request).bytes)
    }

    /// Sends the response to a call of a procedure; without a connection, after a resume.
    func answer(_ answer: ProcedureAnswer) {
        guard case .open = phase else {
            if restorable.answers.count < StreamLimits.procedureCallsMax { restorable.answers.append(answer) }
            return
        }
        let bytes = OutgoingRequest(.answerProcedure(answer)).bytes
        // Escaped, a text may be six times as long. The gateway would close the connection.
        guard bytes.count <= ProtocolLimits.controlBytesMax else {
            return notify(.answerProcedure(ProcedureAnswer(requestId: answer.requestId, error: .responseTooLarge)))
        }
        connection?.send(text: bytes)
    }

    // MARK: Published tracks

    func publish(_ description: PublishTrack, _ publication: Publication) {
        send(.publish(description), timeout: options.requestTimeout, .publisher(description, publication))
    }

    func unpublish(_ track: Int, timeout: Duration, _ reply: Reply) {
        guard let own = published[track] else { return reply.resume(returning: .failure(.ended)) }
        send(.unpublish(own.handle.info.sid), timeout: timeout, .unpublisher(track: track, reply))
    }

    func mute(_ track: Int, _ muted: Bool, timeout: Duration, _ reply: Reply) {
        guard let own = published[track] else { return reply.resume(returning: .failure(.ended)) }
        own.isMuted = muted
        send(.mute(own.handle.info.sid, muted: muted), timeout: timeout, .caller(reply))
    }

    func clear(_ track: Int, reason: String?, timeout: Duration, _ reply: Reply) {
        guard let own = published[track] else { return reply.resume(returning: .failure(.ended)) }
        if let alias = own.alias { dropUnsentFrames(of: alias) }
        let sid = own.handle.info.sid
        send(.playoutClear(sid, reason: reason), timeout: timeout, .clearer(sid, reply))
    }

    /// - Parameter time: nil for the end of what has been sent.
    func mark(_ track: Int, at time: MediaTime?, name: String, timeout: Duration, _ reply: Reply) {
        guard let own = published[track] else { return reply.resume(returning: .failure(.ended)) }
        let mark = PlayoutMark(track: own.handle.info.sid, ts: (time ?? own.numbering.end).ticks, name: name)
        send(.playoutMark(mark), timeout: timeout, .caller(reply))
    }

    // MARK: After a reconnect

    /// The session was resumed: completes or undoes the requests that had no reply when the connection broke.
    ///
    /// - Parameters:
    ///   - tracks: the local participant's tracks as the gateway knows them.
    ///   - isWholeState: the gateway may have lost the latest requests that it had accepted.
    func reconcile(with tracks: [TrackInfo], isWholeState: Bool) {
        let known = published.sorted { $0.key < $1.key }
        if isWholeState, restorable.isOnHold { notify(.hold(true)) }
        for info in tracks {
            if let own = known.first(where: { $0.value.handle.info.sid == info.sid })?.value {
                didClear(info.sid, epoch: info.epoch)
                // Only ever mutes: a muted track is not opened by accident.
                if own.isMuted, !info.muted { notify(.mute(info.sid, muted: true)) }
            } else {
                // The caller of `publish` has received an error.
                notify(.unpublish(info.sid))
            }
        }
        for (track, own) in known where !tracks.contains(where: { $0.sid == own.handle.info.sid }) {
            if own.alias == nil || isWholeState {
                own.alias = nil
                republish(track, own)
            } else {
                published[track] = nil
                emit(.trackLost(own.handle, .ended))
            }
        }
        let answers = restorable.answers
        restorable.answers = []
        for late in answers { answer(late) }
        restoreRequests()
    }

    /// Joined again: holds the call if it was on hold, publishes the tracks again and repeats the accepted subscriptions and the agent state.
    func restore() {
        // The calls have ended with the earlier session.
        restorable.answers = []
        if restorable.isOnHold { notify(.hold(true)) }
        for own in published.values { own.alias = nil }
        for track in published.keys.sorted() {
            if let own = published[track] { republish(track, own) }
        }
        restoreRequests()
    }

    private func republish(_ track: Int, _ own: PublishedTrack) {
        send(.publish(own.description), timeout: options.requestTimeout, .republisher(track: track))
    }

    private func restoreRequests() {
        for (track, subscribed) in restorable.subscriptions {
            send(
                .subscribe(track, subscribed: subscribed), timeout: options.requestTimeout,
                .subscriber(track, subscribed: subscribed, nil))
        }
        if let agentState = restorable.agentState { notify(.agentState(agentState)) }
    }

    // MARK: Replies

    func handleReply(_ id: UInt64, _ fields: ReplyFields) {
        guard let waiter = pending.take(id) else { return room.count { $0.messagesUnread += 1 } }
        switch waiter {
        case .caller(let reply):
            if let newer = fields.token { token = newer }
            reply.resume(returning: .success(fields))
        case .publisher(let description, let publication):
            guard let info = fields.track else { return publication.resume(returning: .failure(.badAnswer)) }
            publication.resume(returning: .success(addTrack(info, description)))
        case .clearer(let track, let reply):
            if let epoch = fields.epoch { didClear(track, epoch: epoch) }
            reply.resume(returning: .success(fields))
        case .unpublisher(let track, let reply):
            published[track] = nil
            reply.resume(returning: .success(fields))
        case .republisher(let track):
            guard let info = fields.track else { return fail(waiter, .badAnswer) }
            renewTrack(track, info)
        case .subscriber(let track, let subscribed, let reply):
            // The track may have ended while the reply was on its way.
            if remote.contains(track) { restorable.subscriptions[track] = subscribed }
            reply?.resume(returning: .success(fields))
        case .agentState(let state, let reply):
            restorable.agentState = state
            reply.resume(returning: .success(fields))
        case .holder(let isOnHold, let reply):
            restorable.isOnHold = isOnHold
            reply.resume(returning: .success(fields))
        case .ping(let sentAt):
            let roundTrip = now - sentAt
            room.count { $0.roundTrip = roundTrip }
        }
    }

    func handleError(_ id: UInt64, _ error: RequestError) {
        guard let waiter = pending.take(id) else { return room.count { $0.messagesUnread += 1 } }
        fail(waiter, .refused(error))
    }

    func fail(_ waiter: Waiter, _ failure: RequestFailure) {
        switch waiter {
        case .caller(let reply), .unpublisher(_, let reply), .clearer(_, let reply), .agentState(_, let reply), .holder(_, let reply):
            reply.resume(returning: .failure(failure))
        case .publisher(_, let publication): publication.resume(returning: .failure(failure))
        case .republisher(let track):
            // The next connection publishes it again.
            if failure == .notConnected { return }
            guard let own = published.removeValue(forKey: track) else { return }
            emit(.trackLost(own.handle, failure))
        case .subscriber(let track, _, let reply):
            // A restored subscription that the gateway refuses is not restored again.
            if reply == nil, case .refused = failure { restorable.subscriptions[track] = nil }
            reply?.resume(returning: .failure(failure))
        case .ping: break
        }
    }

    private func addTrack(_ info: TrackInfo, _ description: PublishTrack) -> LocalTrack {
        let track = LocalTrack(room: room, info: info, requestTimeout: options.requestTimeout)
        published[track.id] = PublishedTrack(handle: track, description: description, alias: info.alias, epoch: info.epoch)
        return track
    }

    private func renewTrack(_ track: Int, _ info: TrackInfo) {
        guard let own = published[track] else { return }
        let before = own.handle.info.sid
        own.handle.renew(info)
        own.alias = info.alias
        own.epoch = info.epoch
        if own.isMuted { notify(.mute(info.sid, muted: true)) }
        emit(.trackRepublished(own.handle, was: before))
    }
}

/// A track of the local participant.
final class PublishedTrack {
    let handle: LocalTrack
    let description: PublishTrack
    /// Nil while the track is not published on the current connection.
    var alias: TrackAlias?
    var isMuted = false
    /// Increases with each clear.
    var epoch: UInt8
    var numbering: TrackNumbering

    init(handle: LocalTrack, description: PublishTrack, alias: TrackAlias, epoch: UInt8) {
        self.handle = handle
        self.description = description
        self.alias = alias
        self.epoch = epoch
        numbering = TrackNumbering(sequence: SequenceNumber(.random(in: 0 ... .max)), timestamp: MediaTime(ticks: .random(in: 0 ... .max)))
    }
}
