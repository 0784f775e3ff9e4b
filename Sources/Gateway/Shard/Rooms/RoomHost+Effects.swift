internal import Backend
internal import Engine
internal import Identity
internal import Wire

/// Executes the effects of rooms, on this shard or by mailbox on those of the participants.
extension RoomHost {
    func execute(_ effect: Room.Effect, of room: Int) {
        switch effect {
        case .send(let event, let handles): send(event, to: handles)
        case .replay(let event, let handle): send(event, to: [handle], isReplay: true)
        case .reply(_, _, let handle), .reject(_, _, let handle), .mintToken(let handle, _, _): route(effect, to: handle)
        case .patch(let change): route(change)
        case .handOver(let old, let new):
            remoteParticipants[old] = nil
            route(effect, to: new)
            if old.shard != new.shard { route(effect, to: old) }
        case .close(let handle, _):
            remoteParticipants[handle] = nil
            absent.remove(handle)
            route(effect, to: handle)
        // Recorded before.
        case .record: break
        case .agent(let identity, let presence): notifyDispatch(of: presence, of: identity, in: room)
        case .attended(let isAttended):
            guard let dispatch = context.gateway.dispatch, let hosted = table[room] else { return }
            dispatch.post(.attended(hosted.name, isAttended, epoch: epoch(of: hosted)))
        case .tap(_, let publisher), .untap(_, let publisher): route(effect, to: publisher)
        case .procedureEnded(let number, let outcome): administrativeCalls.end(number, outcome)
        case .closed: closeRoom(room)
        }
    }

    // MARK: Events

    /// Sends an event to all of these participants, encoded once.
    private func send(_ event: Event, to handles: [ParticipantHandle], isReplay: Bool = false) {
        guard !handles.isEmpty else { return }
        let encoded = EncodedEvent(event)
        execution.sentBytes += encoded.byteCount * handles.count
        deliver(encoded, to: handles, isReplay: isReplay)
        if !absent.isEmpty { for handle in handles { absent.log(encoded, for: handle, at: context.now) } }
        guard handles.contains(where: { !context.isLocal($0) }) else { return }
        for shard in context.shardIndices where shard != context.index {
            let remote = handles.filter { Int($0.shard) == shard }
            if !remote.isEmpty { context.post(.deliver(encoded, to: remote, isReplay: isReplay), to: shard) }
        }
    }

    /// Sends an event to those of these participants that are on this shard.
    func deliver(_ event: EncodedEvent, to handles: [ParticipantHandle], isReplay: Bool) {
        for handle in handles { slots.occupant(of: handle)?.send(event, isReplay: isReplay) }
    }

    // MARK: Routing

    /// Has an effect executed on the shard of a participant's socket.
    func route(_ effect: Room.Effect, to handle: ParticipantHandle) {
        if context.isLocal(handle) { return executeHere(effect) }
        guard AbsentParticipants.isAbsent(handle) else { return context.post(.effect(effect), to: Int(handle.shard)) }
        // Other effects mean nothing to a participant without a connection on this node.
        if case .handOver(let old, let new) = effect, old == handle, let log = absent.take(old) {
            context.post(.takeOver(new, SessionHandover(restored: log)), to: Int(new.shard))
        }
    }

    /// Has an effect executed on all shards, on this one first, except the shard of a participant.
    private func routeToAll(_ effect: Room.Effect, except handle: ParticipantHandle? = nil) {
        if handle.map(context.isLocal) != true { executeHere(effect) }
        for shard in context.shardIndices where shard != context.index && shard != handle.map({ Int($0.shard) }) {
            context.post(.effect(effect), to: shard)
        }
    }

    /// Has a patch change applied on every shard that it concerns.
    ///
    /// A subscriber's shard comes before the publisher's, so that it knows whom frames are for before they arrive. A clear reaches the
    /// publisher's shard last, so that all shards know the new epoch before its first frame. A move reaches the new publisher's shard first,
    /// because the old one hands its queue over to it.
    private func route(_ change: Room.PatchChange) {
        let effect = Room.Effect.patch(change)
        switch change {
        case .publish(_, let publisher), .keep(_, let publisher, _): route(effect, to: publisher)
        case .subscribe(let subscriber, _, let publisher, _), .unsubscribe(let subscriber, _, let publisher):
            route(effect, to: subscriber)
            if publisher.shard != subscriber.shard { route(effect, to: publisher) }
        case .move(_, _, let publisher, _, _):
            route(effect, to: publisher)
            routeToAll(effect, except: publisher)
        case .unpublish, .gate, .retain: routeToAll(effect)
        case .clear(_, let publisher, _):
            routeToAll(effect, except: publisher)
            route(effect, to: publisher)
        }
    }

    // MARK: On the participant's shard

    /// Executes an effect on a participant of this shard, or on a track's patches here.
    func executeHere(_ effect: Room.Effect) {
        switch effect {
        case .reply(let reply, let id, let handle): slots.occupant(of: handle)?.send(reply: EncodedReply.bytes(of: reply, re: id))
        case .reject(let error, let id, let handle): slots.occupant(of: handle)?.refuse(error, id: id)
        case .mintToken(let handle, let content, let id):
            if let participant = slots.occupant(of: handle) { sendToken(content, id: id, to: participant) }
        case .close(let handle, let reason): sessions.expelled(handle, reason)
        case .handOver(let old, let new): sessions.handOver(from: old, to: new)
        case .patch(let change): media.apply(change)
        case .tap(let order, let publisher): media.startRecording(order, by: publisher)
        case .untap(let track, let publisher): media.finishRecording(track, by: publisher)
        case .send, .replay, .record, .agent, .attended, .procedureEnded, .closed:
            assertionFailure("executed at the room's home: \(effect)")
        }
    }

    private func sendToken(_ content: TokenContent, id: UInt64?, to participant: ParticipantConnection) {
        let now = WallClock.seconds
        guard let key = context.keys.signer, let token = try? TokenMinter.mint(content.claims(issuer: key.issuer, now: now), with: key)
        else {
            // With public keys only (RS256, ES256) a gateway can verify, but not sign.
            if let id {
                let error = RequestError(.unsupported, "this gateway holds no key to sign tokens; ask your token issuer")
                participant.refuse(error, id: id)
            }
            return
        }
        let expiry = now + TokenContent.lifetimeSeconds
        if let id {
            participant.send(reply: EncodedReply.bytes(of: .token(token, expiresAt: expiry), re: id))
        } else {
            participant.send(EncodedEvent(.tokenRefreshed(token: token, expiresAt: expiry)))
        }
    }
}
