internal import Engine
internal import Wire

/// Checks of events: order, and knowledge of the participants and tracks they name.
extension PeerSession {
    func take(_ event: Event, seq: UInt64) {
        resolveResume(at: event)
        world.expect(seq == lastSeq + 1, "\(self) gets event \(seq) after \(lastSeq)")
        lastSeq = seq
        if hello == nil, !isResumed {
            switch event {
            case .hello, .bye: break
            default: world.fail("\(self) receives \(event) before hello")
            }
        }
        switch event {
        case .hello(let hello): receiveHello(hello)
        case .participantJoined(let info):
            world.expect(!info.permission.hidden, "\(self) learns of a hidden participant")
            world.expect(info.identity != peer.identity, "\(self) receives `participant.joined` of itself")
            world.expect(others.insert(info.identity).inserted, "\(self) receives `participant.joined` of \(info.identity) twice")
        case .participantLeft(let identity, _):
            world.expect(others.remove(identity) != nil, "\(self) receives `participant.left` of \(identity), which was not present")
            world.expect(!tracks.values.contains { $0.participant == identity }, "\(identity) left before its tracks ended")
            lastLeft = identity
        case .agentLost(let identity, _):
            world.expect(identity == lastLeft, "\(self) receives `agent.lost` of \(identity), which did not just leave")
        case .participantUpdated(let info, _):
            expectKnown(info.identity, event)
            if info.identity == peer.identity { apply(info.permission) }
        case .agentJoined(let info): expectKnown(info.identity, event)
        case .trackPublished(let info):
            expectKnown(info.participant, event)
            world.expect(info.participant != peer.identity, "\(self) receives `track.published` of its own track")
            name(info)
            if isSettling { requestSubscription(info.sid) }
        case .trackUnpublished(let sid, let identity):
            expectKnown(sid, of: identity, event)
            world.expect(!talking.contains(sid), "\(self): \(sid) ended during a talkspurt")
            playing.remove(sid)
            players[sid] = nil
            tracks[sid] = nil
            trackOrder.removeAll { $0 == sid }
            end(of: sid)
        case .trackMuted(let sid, let identity): changeMute(sid, of: identity, true, event)
        case .trackUnmuted(let sid, let identity): changeMute(sid, of: identity, false, event)
        case .talkStarted(let identity, let sid, _):
            expectKnown(sid, of: identity, event)
            world.expect(talking.insert(sid).inserted, "\(self) receives `talk.started` of \(sid) twice")
        case .talkStopped(let identity, let sid, _, _):
            expectKnown(sid, of: identity, event)
            world.expect(talking.remove(sid) != nil, "\(self) receives `talk.stopped` of \(sid), which was not talking")
        case .talkEarlier(let identity, let sid, let start, let live):
            expectKnown(sid, of: identity, event)
            world.expect(peer.kind == .agent, "\(self) is no agent and receives earlier speech")
            world.expect(live.distance(from: start) > 0, "\(self) receives \(event), which is empty")
            world.expect(liveFrom[sid] == nil, "\(self) receives earlier speech of \(sid) twice")
            liveFrom[sid] = live
        case .speakersChanged(let speakers):
            for speaker in speakers { expectKnown(speaker.participant, event) }
        case .qualityChanged(let identity, _), .silence(let identity, _), .agentState(let identity, _), .callHeld(let identity),
            .callResumed(let identity), .callMuted(let identity), .callUnmuted(let identity):
            expectKnown(identity, event)
        case .digits(let identity, _): if !identity.text.isEmpty { expectKnown(identity, event) }
        case .data(let identity, _, let payload): take(data: payload, from: identity, event)
        case .text(_, let identity, _, let text): take(data: .text(text), from: identity, event)
        case .procedureCalled(let id, let identity, _, _, let timeout): take(call: id, from: identity, timeout, event)
        case .segment(let segment):
            world.expect(segment.rev > revisions[segment.id] ?? -1, "\(self) gets revision \(segment.rev) of \(segment.id) out of order")
            revisions[segment.id] = segment.rev
        case .bye: receivedBye = true
        case .roomUpdated, .tokenRefreshed, .serverDraining, .stats: break
        case .playoutMarked, .playoutCleared, .playoutStarted, .playoutFinished, .playoutBacklog: take(playout: event)
        case .callEnded, .agentWaiting, .recordingStarted, .recordingStopped: world.fail("\(self) receives \(event), which nothing caused")
        }
    }

    /// The first event decides: a `hello` that rejects the resume, or a missed event.
    private func resolveResume(at event: Event) {
        guard hello == nil, !isResumed, let resumeState else { return }
        switch event {
        case .hello(let hello) where hello.resumed == false: self.resumeState = nil
        case .bye: break
        default: adopt(resumeState)
        }
    }

    private func receiveHello(_ hello: Hello) {
        world.expect(self.hello == nil, "\(self) receives hello twice")
        world.log("\(self) has joined")
        let past = resumeState?.hello
        self.hello = hello
        joinedAt = world.now
        world.expect(hello.participant.identity == peer.identity, "\(self) has the identity \(hello.participant.identity)")
        world.expect(hello.room.name == ticket.room, "\(self) is in \(hello.room.name)")
        apply(hello.participant.permission)
        if isResumed, let past {
            checkResumedHello(hello, after: past)
            if isSettling { settle() }
            return
        }
        world.expect(hello.resumed == (ticket.admission.resuming == nil ? nil : false), "\(self) gets a wrong `resumed` in hello")
        for info in hello.participants {
            world.expect(!info.permission.hidden, "\(self) learns of a hidden participant")
            world.expect(
                others.insert(info.identity).inserted && info.identity != peer.identity,
                "hello contains \(info.identity) twice, or the peer itself")
            for track in info.tracks ?? [] { name(track) }
        }
        // After the faults it talks and subscribes at once.
        if isSettling {
            settle()
        } else if permission.canPublish, !permission.hidden, world.random.chance(0.9) {
            sendRequest(.publish(PublishTrack(frameMs: world.swarm.frameMilliseconds)), .publish)
        }
    }

    private func apply(_ permission: Permission) {
        forbiddenSince = permission.canSubscribe ? nil : forbiddenSince ?? world.now
        let isNewlyPermitted = permission.canSubscribe && !self.permission.canSubscribe
        if permission.canSubscribe != self.permission.canSubscribe { resubscribed.formUnion(epochs.keys) }
        self.permission = permission
        if isNewlyPermitted, isSettling { for track in trackOrder { requestSubscription(track) } }
    }

    /// Registers a track. Aliases must be unique.
    func name(_ info: TrackInfo) {
        world.expect(
            !tracks.values.contains { $0.alias == info.alias }, "\(self) learns of two tracks with alias \(info.alias.value)")
        world.expect(tracks[info.sid] == nil, "\(self) learns of \(info.sid) twice")
        tracks[info.sid] = (info.participant, info.alias)
        trackOrder.append(info.sid)
        named[info.alias.value] = info.sid
        if info.mode == .ahead { epochs[info.sid] = info.epoch }
    }

    private func expectKnown(_ identity: Identity, _ event: Event) {
        world.expect(
            identity == peer.identity || others.contains(identity),
            "\(self) receives an event of \(identity), which is not present: \(event)")
    }

    func expectKnown(_ sid: TrackSID, of identity: Identity, _ event: Event) {
        // The reply that names a track of its own may have been missed; `hello` contains it.
        if isResumed, hello == nil, identity == peer.identity, tracks[sid] == nil { return }
        world.expect(tracks[sid]?.participant == identity, "\(self) receives an event of an unknown track: \(event)")
    }

    private func changeMute(_ sid: TrackSID, of identity: Identity, _ muted: Bool, _ event: Event) {
        expectKnown(sid, of: identity, event)
        guard let index = published.firstIndex(where: { $0.sid == sid }) else { return }
        // While its own request is pending, the order of the two is unknown.
        if pendingRequests[published[index].lastMute] == nil { published[index].isMuted = muted }
    }

    /// Checks recipients and order of data messages against the ledger.
    private func take(data payload: DataPayload, from identity: Identity, _ event: Event) {
        if !identity.text.isEmpty { expectKnown(identity, event) }
        guard case .text(let text) = payload, let number = Int(text), number < world.ledger.messages.count else {
            return world.fail("\(self) gets data that was never sent: \(event)")
        }
        let message = world.ledger.messages[number]
        world.expect(message.room == peer.room, "\(self) gets data of another room")
        world.expect(message.sender !== peer, "\(self) gets its own data")
        world.expect(message.recipients?.contains(peer.identity) != false, "\(self) gets data addressed to others")
        guard !identity.text.isEmpty else { return }
        world.expect(number > lastData[identity] ?? -1, "\(self) gets data twice or in the wrong order: \(event)")
        lastData[identity] = number
    }

    private func take(call: String, from identity: Identity, _ timeout: Int, _ event: Event) {
        if !identity.text.isEmpty { expectKnown(identity, event) }
        guard world.random.chance(0.8) else { return }
        let thinking = Duration.milliseconds(world.random.below(timeout * 3 / 2 + 1))
        world.schedule.add(.answers(session: number, call: call), at: world.now + thinking)
    }

    /// Answers, except near the end of a simulation, where no time is left for the reply to the answer.
    func answer(_ call: String) {
        switch world.phase {
        case .draining, .leaving, .over: return
        case .chaos, .recovery, .liveness: break
        }
        guard !isOver else { return }
        let answer =
            world.random.chance(0.2)
            ? ProcedureAnswer(requestId: call, error: .applicationError) : ProcedureAnswer(requestId: call, payload: "done")
        sendRequest(.answerProcedure(answer))
        if world.random.chance(0.1) { sendRequest(.answerProcedure(answer)) }
    }
}
