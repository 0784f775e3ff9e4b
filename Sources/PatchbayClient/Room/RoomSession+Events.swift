internal import Wire

/// Messages of the gateway.
extension RoomSession {
    func handle(message text: [UInt8]) {
        didReceiveActivity()
        guard let message = try? ServerMessage(parsing: text) else { return room.count { $0.messagesUnread += 1 } }
        switch message {
        case .reply(let id, let fields): handleReply(id, fields)
        case .error(let id?, let error): handleError(id, error)
        case .error(nil, _): room.count { $0.messagesUnread += 1 }
        case .event(.hello(let hello), let seq): handleHello(hello, seq: seq)
        case .event(let event, let seq): handleEvent(event, seq: seq)
        case .unknownEvent(let type, let seq):
            claim?.lastSeq = seq
            room.count { $0.eventsReceived += 1 }
            emit(.unknown(type: type, seq: seq))
        }
    }

    private func handleHello(_ hello: Hello, seq: UInt64) {
        let isReconnect = attempt > 0
        let isResumed = isReconnect && hello.resumed == true
        claim = hello.resumeToken.isEmpty ? nil : ResumeClaim(token: hello.resumeToken, lastSeq: seq)
        didOpen(
            Heartbeat(
                interval: .milliseconds(max(hello.pingIntervalMs, 100)), timeout: .milliseconds(max(hello.pingTimeoutMs, 1_000)),
                pongTimeout: options.reconnect == .backOff && claim != nil ? Heartbeat.defaultPongTimeout : nil, now: now))
        room.update { state in
            state.hello = hello
            // On resume, the missed events were replayed before this `hello`.
            if !isResumed { state.snapshot = RoomSnapshot(hello) }
            state.statistics.eventsReceived += 1
            if isReconnect { state.statistics.reconnects += 1 }
        }
        if !isResumed {
            remote.replace(with: hello.participants.flatMap { $0.tracks ?? [] })
            pruneSubscriptions()
        }
        emit(.gateway(.hello(hello), seq: seq))
        completeOpening()
        if isReconnect {
            emit(.reconnected)
            if isResumed { reconcile(with: hello.participant.tracks ?? []) } else { restore() }
        }
    }

    private func handleEvent(_ event: Event, seq: UInt64) {
        claim?.lastSeq = seq
        room.update { state in
            state.snapshot?.apply(event)
            state.statistics.eventsReceived += 1
        }
        switch event {
        case .participantJoined(let info), .agentJoined(let info): for track in info.tracks ?? [] { remote.add(track) }
        case .trackPublished(let track): if track.participant != room.current.hello?.participant.identity { remote.add(track) }
        case .trackUnpublished(let sid, _):
            remote.remove(sid)
            restorable.subscriptions[sid] = nil
        case .participantLeft(let identity, _):
            remote.removeAll(of: identity)
            pruneSubscriptions()
        case .tokenRefreshed(let newer, _): token = newer
        case .playoutCleared(let cut, _): didClear(cut.track, epoch: cut.epoch)
        case .procedureCalled(let id, let caller, let method, let payload, let timeout):
            procedures.handle(
                ProcedureInvocation(id: id, caller: caller, method: method, payload: payload, timeout: .milliseconds(timeout)),
                room: room)
        default: break
        }
        emit(.gateway(event, seq: seq))
    }

    /// Forgets the subscriptions to tracks that have ended.
    private func pruneSubscriptions() {
        restorable.subscriptions = restorable.subscriptions.filter { remote.contains($0.key) }
    }
}
