internal import Wire

/// What the gateway says.
extension RoomSession {
    func take(text: [UInt8]) {
        heard()
        guard let message = try? ServerMessage(parsing: text) else { return mirror.count { $0.messagesUnread += 1 } }
        switch message {
        case .reply(let id, let fields): answered(id, fields)
        case .error(let id?, let error): refused(id, error)
        case .error(nil, _): mirror.count { $0.messagesUnread += 1 }
        case .event(.hello(let hello), let seq): welcomed(hello, seq: seq)
        case .event(let event, let seq): happened(event, seq: seq)
        case .unknownEvent(let type, let seq):
            claim?.lastSeq = seq
            mirror.count { $0.eventsReceived += 1 }
            emit(.unknown(type: type, seq: seq))
        }
    }

    private func welcomed(_ hello: Hello, seq: UInt64) {
        let isReconnect = attempt > 0
        let isResumed = isReconnect && hello.resumed == true
        identity = hello.participant.identity
        claim = hello.resumeToken.isEmpty ? nil : ResumeClaim(token: hello.resumeToken, lastSeq: seq)
        isOpen(
            Heartbeat(
                interval: .milliseconds(max(hello.pingIntervalMs, 100)), timeout: .milliseconds(max(hello.pingTimeoutMs, 1_000)),
                patience: options.reconnect == .backOff && claim != nil ? Heartbeat.usualPatience : nil, now: thread.now))
        mirror.update { mirror in
            mirror.hello = hello
            // Who is back in its place has just been told all that it missed.
            if !isResumed { mirror.snapshot = RoomSnapshot(hello) }
            mirror.statistics.eventsReceived += 1
            if isReconnect { mirror.statistics.reconnects += 1 }
        }
        if !isResumed { remote.replace(with: hello.participants.flatMap { $0.tracks ?? [] }) }
        emit(.gateway(.hello(hello), seq: seq))
        opening?.resume(returning: .success(hello))
        opening = nil
        if isReconnect {
            emit(.reconnected)
            if isResumed { settle(hello.participant.tracks ?? []) } else { restore() }
        }
    }

    private func happened(_ event: Event, seq: UInt64) {
        claim?.lastSeq = seq
        mirror.update { mirror in
            mirror.snapshot?.apply(event)
            mirror.statistics.eventsReceived += 1
        }
        switch event {
        case .participantJoined(let info), .agentJoined(let info): for track in info.tracks ?? [] { remote.add(track) }
        case .trackPublished(let track): if track.participant != identity { remote.add(track) }
        case .trackUnpublished(let sid, _): remote.remove(sid)
        case .participantLeft(let who, _): remote.removeAll(of: who)
        case .tokenRefreshed(let newer, _): token = newer
        case .playoutCleared(let cut, _): cleared(cut.track, epoch: cut.epoch)
        case .procedureCalled(let id, let who, let method, let payload, let timeout):
            plan.procedures.answer(
                ProcedureInvocation(id: id, caller: who, method: method, payload: payload, timeout: .milliseconds(timeout)),
                through: plan.door)
        default: break
        }
        emit(.gateway(event, seq: seq))
    }
}
