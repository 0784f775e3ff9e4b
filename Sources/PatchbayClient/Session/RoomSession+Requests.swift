internal import Sockets
internal import Wire

/// What we ask of the gateway, and what it answers.
extension RoomSession {
    func ask(_ request: Request, timeout: Duration, _ waiter: Waiter) {
        if let refusal = refusal(whileWaiting: pending.count) { return fail(waiter, refusal) }
        let deadline = thread.now + timeout
        guard let text = pending.add(waiter, deadline: deadline, making: { OutgoingRequest(request, id: $0).bytes }) else {
            return fail(waiter, .tooLarge)
        }
        remember(request)
        connection?.write(text: text)
        thread.arm(at: deadline)
    }

    func tell(_ request: Request) {
        guard case .open = phase else { return }
        connection?.write(text: OutgoingRequest(request).bytes)
    }

    /// What has to be asked for again after a reconnect.
    private func remember(_ request: Request) {
        switch request {
        case .subscribe(let track, let subscribed): subscriptions[track] = subscribed
        case .agentState(let state): agentState = state
        default: break
        }
    }

    // MARK: Own tracks

    func unpublish(_ track: Int, timeout: Duration, _ answer: Answer) {
        guard let own = published[track] else { return answer.resume(returning: .failure(.ended)) }
        ask(.unpublish(own.handle.info.sid), timeout: timeout, .unpublisher(track: track, answer))
    }

    func mute(_ track: Int, _ muted: Bool, timeout: Duration, _ answer: Answer) {
        guard let own = published[track] else { return answer.resume(returning: .failure(.ended)) }
        own.isMuted = muted
        ask(.mute(own.handle.info.sid, muted: muted), timeout: timeout, .caller(answer))
    }

    /// Back in our place: sees to it that what we asked for when the line broke, and had no answer to, is either done or undone.
    ///
    /// - Parameter tracks: ours, as the gateway knows them.
    func settle(_ tracks: [TrackInfo]) {
        let known = published.sorted { $0.key < $1.key }
        for info in tracks {
            if let own = known.first(where: { $0.value.handle.info.sid == info.sid })?.value {
                // Never the other way round: what was muted is not opened by accident.
                if own.isMuted, !info.muted { tell(.mute(info.sid, muted: true)) }
            } else {
                // Whoever wanted it was told that it failed.
                tell(.unpublish(info.sid))
            }
        }
        for (track, own) in known where !tracks.contains(where: { $0.sid == own.handle.info.sid }) {
            if own.alias == nil {
                republish(track, own)
            } else {
                published[track] = nil
                emit(.trackLost(own.handle, .ended))
            }
        }
        tellWishes()
    }

    /// After a fresh join: our tracks, subscriptions and state as they were.
    func restore() {
        for own in published.values { own.alias = nil }
        for track in published.keys.sorted() {
            if let own = published[track] { republish(track, own) }
        }
        tellWishes()
    }

    private func republish(_ track: Int, _ own: PublishedTrack) {
        ask(.publish(own.description), timeout: options.requestTimeout, .republisher(track: track))
    }

    private func tellWishes() {
        for (track, subscribed) in subscriptions { tell(.subscribe(track, subscribed: subscribed)) }
        if let agentState { tell(.agentState(agentState)) }
    }

    // MARK: Answers

    func answered(_ id: UInt64, _ fields: ReplyFields) {
        guard let waiter = pending.take(id) else { return mirror.count { $0.messagesUnread += 1 } }
        switch waiter {
        case .caller(let answer):
            if let newer = fields.token { token = newer }
            answer.resume(returning: .success(fields))
        case .publisher(let description, let publication):
            guard let info = fields.track else { return publication.resume(returning: .failure(.badAnswer)) }
            publication.resume(returning: .success(adopt(info, description)))
        case .clearer(let track, let answer):
            if let epoch = fields.epoch { cleared(track, epoch: epoch) }
            answer.resume(returning: .success(fields))
        case .unpublisher(let track, let answer):
            published[track] = nil
            answer.resume(returning: .success(fields))
        case .republisher(let track):
            guard let info = fields.track else { return fail(waiter, .badAnswer) }
            readopt(info, track)
        case .ping(let sentAt):
            let span = thread.loop.exactNow - sentAt
            mirror.count { $0.roundTrip = span }
        }
    }

    func refused(_ id: UInt64, _ error: RequestError) {
        guard let waiter = pending.take(id) else { return mirror.count { $0.messagesUnread += 1 } }
        fail(waiter, .refused(error))
    }

    func fail(_ waiter: Waiter, _ failure: RequestFailure) {
        switch waiter {
        case .caller(let answer), .unpublisher(_, let answer), .clearer(_, let answer): answer.resume(returning: .failure(failure))
        case .publisher(_, let publication): publication.resume(returning: .failure(failure))
        case .republisher(let track):
            // The line broke again: the next connection tries anew.
            if failure == .notConnected { return }
            guard let own = published.removeValue(forKey: track) else { return }
            emit(.trackLost(own.handle, failure))
        case .ping: break
        }
    }

    private func adopt(_ info: TrackInfo, _ description: PublishTrack) -> LocalTrack {
        let handle = LocalTrack(door: plan.door, info: info, requestTimeout: options.requestTimeout)
        published[handle.id] = PublishedTrack(handle: handle, description: description, alias: info.alias, epoch: info.epoch)
        return handle
    }

    private func readopt(_ info: TrackInfo, _ track: Int) {
        guard let own = published[track] else { return }
        let before = own.handle.info.sid
        own.handle.renew(info)
        own.alias = info.alias
        own.epoch = info.epoch
        if own.isMuted { tell(.mute(info.sid, muted: true)) }
        emit(.trackRepublished(own.handle, was: before))
    }
}

/// A track of ours as its session knows it.
final class PublishedTrack {
    let handle: LocalTrack
    let description: PublishTrack
    /// Nil while there is no connection on which it is published.
    var alias: TrackAlias?
    var isMuted = false
    /// Rises with each clear.
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
