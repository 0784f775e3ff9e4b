internal import Engine
internal import Identity
internal import Wire

/// Performs the effects of rooms, on this shard or by mailbox on those of the participants.
extension RoomHost {
    func perform(_ effect: Room.Effect, of room: Int) {
        switch effect {
        case .send(let event, let handles): send(event, to: handles)
        case .replay(let event, let handle): send(event, to: [handle], isReplay: true)
        case .reply(_, _, let handle), .reject(_, _, let handle), .mintToken(let handle, _, _): perform(effect, whereIs: handle)
        case .patch(let change): perform(change)
        case .handOver(let old, let new):
            forgetRemote(old)
            perform(effect, whereIs: new)
            if old.shard != new.shard { perform(effect, whereIs: old) }
        case .close(let handle, _):
            forgetRemote(handle)
            perform(effect, whereIs: handle)
        case .record(let event, let snapshot): if let hosted = table[room] { record(event, in: snapshot, of: hosted) }
        case .agent(let identity, let presence): report(presence, of: identity, in: room)
        case .tap(_, let publisher), .untap(_, let publisher): perform(effect, whereIs: publisher)
        case .closed: closeRoom(room)
        }
    }

    // MARK: Events

    /// Sends an event to all of these participants, encoded once.
    private func send(_ event: Event, to handles: [ParticipantHandle], isReplay: Bool = false) {
        guard !handles.isEmpty else { return }
        let encoded = EncodedEvent(event)
        execution.sentBytes += encoded.byteCount * handles.count
        var hasRemote = false
        for handle in handles {
            if !context.isLocal(handle) {
                hasRemote = true
            } else if let participant = slots.occupant(of: handle) {
                control.send(encoded, isReplay: isReplay, to: participant)
            }
        }
        guard hasRemote else { return }
        for shard in context.shardIndices where shard != context.index {
            let remote = handles.filter { Int($0.shard) == shard }
            if !remote.isEmpty { context.post(.deliver(encoded, to: remote, isReplay: isReplay), to: shard) }
        }
    }

    /// Sends an event from a room's home to participants on this shard.
    func deliver(_ event: EncodedEvent, to handles: [ParticipantHandle], isReplay: Bool) {
        for handle in handles {
            if let participant = slots.occupant(of: handle) { control.send(event, isReplay: isReplay, to: participant) }
        }
    }

    // MARK: Routing

    /// Performs an effect on the shard of its participant's socket.
    func perform(_ effect: Room.Effect, whereIs handle: ParticipantHandle) {
        perform(effect, on: Int(handle.shard))
    }

    private func perform(_ effect: Room.Effect, on shard: Int) {
        if shard == context.index { performLocally(effect) } else { context.post(.effect(effect), to: shard) }
    }

    /// Performs a patch change on every shard that it concerns.
    ///
    /// A subscriber's shard comes before the publisher's, so that it knows whom frames are for before they arrive. A clear reaches the
    /// publisher's shard last, so that all shards know the new epoch before its first frame. A move reaches the new publisher's shard first,
    /// because the old one hands its queue over to it.
    private func perform(_ change: Room.PatchChange) {
        let effect = Room.Effect.patch(change)
        switch change {
        case .publish(_, let publisher):
            perform(effect, whereIs: publisher)
        case .subscribe(let subscriber, _, let publisher, _), .unsubscribe(let subscriber, _, let publisher):
            perform(effect, whereIs: subscriber)
            if publisher.shard != subscriber.shard { perform(effect, whereIs: publisher) }
        case .move(_, _, let publisher, _, _):
            perform(effect, whereIs: publisher)
            for shard in context.shardIndices where shard != Int(publisher.shard) { perform(effect, on: shard) }
        case .unpublish, .gate, .retain:
            perform(effect, on: context.index)
            for shard in context.shardIndices where shard != context.index { perform(effect, on: shard) }
        case .clear(_, let publisher, _):
            for shard in context.shardIndices where shard != Int(publisher.shard) { perform(effect, on: shard) }
            perform(effect, whereIs: publisher)
        }
    }

    // MARK: On the participant's shard

    /// Performs an effect on a participant of this shard, or on a track's patches here.
    func performLocally(_ effect: Room.Effect) {
        switch effect {
        case .reply(let reply, let id, let handle):
            if let participant = slots.occupant(of: handle) {
                control.send(reply: EncodedReply.bytes(of: reply, re: id), to: participant)
            }
        case .reject(let error, let id, let handle):
            if let participant = slots.occupant(of: handle) { control.refuse(error, id: id, to: participant) }
        case .mintToken(let handle, let content, let id):
            if let participant = slots.occupant(of: handle) { sendToken(content, id: id, to: participant) }
        case .close(let handle, let reason): sessions.expelled(handle, reason)
        case .handOver(let old, let new): sessions.handOver(from: old, to: new)
        case .patch(let change): media.apply(change)
        case .tap(let order, let publisher): media.startRecording(order, by: publisher)
        case .untap(let track, let publisher): media.finishRecording(track, by: publisher)
        case .send, .replay, .record, .agent, .closed: assertionFailure("performed at the room's home: \(effect)")
        }
    }

    private func sendToken(_ content: TokenContent, id: UInt64?, to participant: ParticipantConnection) {
        let now = WallClock.seconds
        guard let key = context.keys.signer, let token = try? TokenMinter.mint(content.claims(issuer: key.issuer, now: now), with: key)
        else {
            // With public keys only (RS256, ES256) a gateway can verify, but not sign.
            if let id {
                let error = RequestError(.unsupported, "this gateway holds no key to sign tokens; ask your token issuer")
                control.refuse(error, id: id, to: participant)
            }
            return
        }
        let expiry = now + TokenContent.lifetimeSeconds
        if let id {
            control.send(reply: EncodedReply.bytes(of: .token(token, expiresAt: expiry), re: id), to: participant)
        } else {
            control.send(.tokenRefreshed(token: token, expiresAt: expiry), to: participant)
        }
    }
}
