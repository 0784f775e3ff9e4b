internal import Engine
internal import Wire

/// What is told, in which order, and of whom.
extension Stay {
    func take(_ event: Event, seq: UInt64) {
        takeOrForgetInheritance(at: event)
        world.expect(seq == lastSeq + 1, "\(self) gets event \(seq) after \(lastSeq)")
        lastSeq = seq
        if hello == nil, !isResumed {
            switch event {
            case .hello, .bye: break
            default: world.fail("\(self) is told \(event) before hello")
            }
        }
        switch event {
        case .hello(let hello): welcome(hello)
        case .participantJoined(let info):
            world.expect(!info.permission.hidden, "\(self) is told of somebody hidden")
            world.expect(info.identity != peer.identity, "\(self) is told that it has joined")
            world.expect(others.insert(info.identity).inserted, "\(self) is told twice that \(info.identity) has joined")
        case .participantLeft(let identity, _):
            world.expect(others.remove(identity) != nil, "\(self) is told that \(identity) left, who was not there")
            world.expect(!tracks.values.contains { $0.participant == identity }, "\(identity) left before its tracks ended")
            lastLeft = identity
        case .agentLost(let identity, _):
            world.expect(identity == lastLeft, "\(self) is told that \(identity) is lost, who did not just leave")
        case .participantUpdated(let info, _):
            knows(info.identity, event)
            if info.identity == peer.identity { obey(info.permission) }
        case .agentJoined(let info): knows(info.identity, event)
        case .trackPublished(let info):
            knows(info.participant, event)
            world.expect(info.participant != peer.identity, "\(self) is told of its own new track")
            name(info)
            if isSettling { askToHear(info.sid) }
        case .trackUnpublished(let sid, let identity):
            knows(sid, of: identity, event)
            world.expect(!talking.contains(sid), "\(self): \(sid) ended while it talked")
            playing.remove(sid)
            players[sid] = nil
            tracks[sid] = nil
            trackOrder.removeAll { $0 == sid }
            end(of: sid)
        case .trackMuted(let sid, let identity): changeMute(sid, of: identity, true, event)
        case .trackUnmuted(let sid, let identity): changeMute(sid, of: identity, false, event)
        case .talkStarted(let identity, let sid, _):
            knows(sid, of: identity, event)
            world.expect(talking.insert(sid).inserted, "\(self) is told twice that \(sid) talks")
        case .talkStopped(let identity, let sid, _, _):
            knows(sid, of: identity, event)
            world.expect(talking.remove(sid) != nil, "\(self) is told that \(sid) stopped, which did not talk")
        case .speakersChanged(let speakers):
            for speaker in speakers { knows(speaker.participant, event) }
        case .qualityChanged(let identity, _), .silence(let identity, _), .agentState(let identity, _), .callHeld(let identity),
            .callResumed(let identity), .callMuted(let identity), .callUnmuted(let identity):
            knows(identity, event)
        case .digits(let identity, _): if !identity.text.isEmpty { knows(identity, event) }
        case .data(let identity, _, let payload): take(data: payload, from: identity, event)
        case .text(_, let identity, _, let text): take(data: .text(text), from: identity, event)
        case .procedureCalled(let id, let identity, _, _, let timeout): take(call: id, from: identity, timeout, event)
        case .segment(let segment):
            world.expect(segment.rev > revisions[segment.id] ?? -1, "\(self) gets revision \(segment.rev) of \(segment.id) too late")
            revisions[segment.id] = segment.rev
        case .bye: isDismissed = true
        case .roomUpdated, .tokenRefreshed, .serverDraining, .stats: break
        case .playoutMarked, .playoutCleared, .playoutStarted, .playoutFinished, .playoutBacklog: take(playout: event)
        case .callEnded, .recordingStarted, .recordingStopped: world.fail("\(self) is told \(event), which nobody asked for")
        }
    }

    /// The first event tells: a greeting that says no, or what was missed.
    private func takeOrForgetInheritance(at event: Event) {
        guard hello == nil, !isResumed, let inheritance else { return }
        switch event {
        case .hello(let hello) where hello.resumed == false: self.inheritance = nil
        case .bye: break
        default: adopt(inheritance)
        }
    }

    private func welcome(_ hello: Hello) {
        world.expect(self.hello == nil, "\(self) is welcomed twice")
        world.note("\(self) is in")
        let past = inheritance?.hello
        self.hello = hello
        welcomedAt = world.now
        world.expect(hello.participant.identity == peer.identity, "\(self) is taken for \(hello.participant.identity)")
        world.expect(hello.room.name == ticket.room, "\(self) is in \(hello.room.name)")
        obey(hello.participant.permission)
        if isResumed, let past {
            welcomeBack(hello, after: past)
            if isSettling { settle() }
            return
        }
        world.expect(hello.resumed == (ticket.admission.resuming == nil ? nil : false), "\(self) is not told whether it is back")
        for info in hello.participants {
            world.expect(!info.permission.hidden, "\(self) is told of somebody hidden")
            world.expect(
                others.insert(info.identity).inserted && info.identity != peer.identity, "hello tells \(info.identity) once too often")
            for track in info.tracks ?? [] { name(track) }
        }
        // Somebody who joins in a world at peace wants to talk and to hear at once.
        if isSettling {
            settle()
        } else if permission.canPublish, !permission.hidden, world.chance.chance(0.9) {
            ask(.publish(PublishTrack(frameMs: world.swarm.frameMilliseconds)), .publish)
        }
    }

    private func obey(_ permission: Permission) {
        forbiddenSince = permission.canSubscribe ? nil : forbiddenSince ?? world.now
        let mayHearNow = permission.canSubscribe && !self.permission.canSubscribe
        if permission.canSubscribe != self.permission.canSubscribe { listensAnew.formUnion(epochs.keys) }
        self.permission = permission
        if mayHearNow, isSettling { for track in trackOrder { askToHear(track) } }
    }

    /// A track is there from now on, under an alias that no other has.
    func name(_ info: TrackInfo) {
        world.expect(
            !tracks.values.contains { $0.alias == info.alias }, "\(self) is told that alias \(info.alias.value) is of two tracks")
        world.expect(tracks[info.sid] == nil, "\(self) is told twice of \(info.sid)")
        tracks[info.sid] = (info.participant, info.alias)
        trackOrder.append(info.sid)
        named[info.alias.value] = info.sid
        if info.mode == .ahead { epochs[info.sid] = info.epoch }
    }

    private func knows(_ identity: Identity, _ event: Event) {
        world.expect(identity == peer.identity || others.contains(identity), "\(self) is told of \(identity), who is not there: \(event)")
    }

    func knows(_ sid: TrackSID, of identity: Identity, _ event: Event) {
        // Of a track of its own it may have missed the answer that names it: its greeting will.
        if isResumed, hello == nil, identity == peer.identity, tracks[sid] == nil { return }
        world.expect(tracks[sid]?.participant == identity, "\(self) is told of a track that is not there: \(event)")
    }

    private func changeMute(_ sid: TrackSID, of identity: Identity, _ muted: Bool, _ event: Event) {
        knows(sid, of: identity, event)
        guard let place = published.firstIndex(where: { $0.sid == sid }) else { return }
        // While an answer of one's own is awaited nobody knows which was first.
        if asked[published[place].lastMute] == nil { published[place].isMuted = muted }
    }

    /// Whatever it was sent: to whom, and in which order, the ledger knows.
    private func take(data payload: DataPayload, from identity: Identity, _ event: Event) {
        if !identity.text.isEmpty { knows(identity, event) }
        guard case .text(let text) = payload, let number = Int(text), number < world.ledger.messages.count else {
            return world.fail("\(self) gets data that nobody sent: \(event)")
        }
        let message = world.ledger.messages[number]
        world.expect(message.room == peer.room, "\(self) gets data of another room")
        world.expect(message.sender !== peer, "\(self) gets its own data")
        world.expect(message.recipients?.contains(peer.identity) != false, "\(self) gets data that is for others")
        guard !identity.text.isEmpty else { return }
        world.expect(number > lastData[identity] ?? -1, "\(self) gets data twice or in the wrong order: \(event)")
        lastData[identity] = number
    }

    private func take(call: String, from identity: Identity, _ timeout: Int, _ event: Event) {
        if !identity.text.isEmpty { knows(identity, event) }
        guard world.chance.chance(0.8) else { return }
        let thinking = Duration.milliseconds(world.chance.below(timeout * 3 / 2 + 1))
        world.agenda.add(.answers(stay: number, call: call), at: world.now + thinking)
    }

    func answer(_ call: String) {
        guard !isOver else { return }
        let answer =
            world.chance.chance(0.2)
            ? ProcedureAnswer(requestId: call, error: .applicationError) : ProcedureAnswer(requestId: call, payload: "done")
        ask(.answerProcedure(answer))
        if world.chance.chance(0.1) { ask(.answerProcedure(answer)) }
    }
}
