internal import Engine
internal import Identity
internal import Sockets
internal import Wire

/// A room and which seats of this shard are in it.
struct HostedRoom {
    var room: Room
    let name: String
    var seats: [Int] = []
}

/// Drives the rooms: an input in, its effects done in order.
extension Shard {
    /// The room of that name, made if it is not there.
    func roomIndex(named name: String, settings: RoomSettings) -> Int {
        if let index = roomByName[name] { return index }
        let index = freeRooms.popLast() ?? rooms.count
        if index == rooms.count { rooms.append(nil) }
        let seed = UInt64.random(in: 0 ... .max)
        var identifiers = IdentifierSource(seed: ~seed)
        let room = Room(
            name: name, sid: identifiers.room(), settings: settings, createdAt: WallClock.seconds, seed: seed, at: loop.now)
        rooms[index] = HostedRoom(room: room, name: name)
        roomByName[name] = index
        return index
    }

    /// Hands a room its input and does what it wants done.
    func perform(_ input: Room.Input, in index: Int) {
        guard index >= 0, rooms[index] != nil else { return }
        var effects = self.effects
        self.effects = []
        effects.removeAll(keepingCapacity: true)
        rooms[index]?.room.handle(input, at: loop.now, into: &effects)
        for effect in effects { perform(effect, of: index) }
        effects.removeAll(keepingCapacity: true)
        self.effects = effects
    }

    private func perform(_ effect: Room.Effect, of room: Int) {
        switch effect {
        case .send(let event, let handles):
            guard !handles.isEmpty else { return }
            let encoded = EncodedEvent(event)
            for handle in handles {
                if let member = member(at: handle) { send(encoded, to: member) }
            }
        case .reply(let reply, let id, let handle):
            if let member = member(at: handle) { send(EncodedAnswer.bytes(of: reply, re: id), to: member) }
        case .refuse(let error, let id, let handle):
            if let member = member(at: handle) { refuse(error, re: id, to: member) }
        case .patch(let change):
            perform(change, in: room)
        case .mintToken(let handle, let content, let id):
            if let member = member(at: handle) { sendToken(content, re: id, to: member) }
        case .close(let handle, let reason):
            guard let member = member(at: handle) else { return }
            forget(member, in: room)
            finish(member, reason)
        case .closed:
            removeRoom(room)
        }
    }

    private func perform(_ change: Room.PatchChange, in room: Int) {
        switch change {
        case .publish(let track, let publisher): panel.publish(track, by: Int(publisher.seat), room: room)
        case .unpublish(let alias, let publisher): panel.unpublish(alias, by: Int(publisher.seat))
        case .gate(let alias, let publisher, let gate): panel.setGate(gate, of: alias, by: Int(publisher.seat))
        case .listen(let listener, let alias, let publisher):
            panel.add(listener: listener.seat, to: alias, of: Int(publisher.seat))
        case .stopListening(let listener, let alias, let publisher):
            panel.remove(listener: listener.seat, from: alias, of: Int(publisher.seat))
        }
    }

    private func sendToken(_ content: TokenContent, re id: UInt64?, to member: Member) {
        let now = WallClock.seconds
        guard let key = keys.signer, let token = try? TokenMinter.mint(content.claims(issuer: key.issuer, now: now), with: key) else {
            // A gateway that only verifies (RS256, ES256) cannot mint: its issuer does.
            if let id {
                refuse(RequestError(.unsupported, "this gateway holds no key to sign tokens; ask your issuer"), re: id, to: member)
            }
            return
        }
        let expiry = now + TokenContent.lifetimeSeconds
        if let id {
            send(EncodedAnswer.bytes(of: .token(token, expiresAt: expiry), re: id), to: member)
        } else {
            send(.tokenRefreshed(token: token, expiresAt: expiry), to: member)
        }
    }

    /// The socket is gone, or goes: the room hears of it once.
    func leaveRoom(_ member: Member, _ reason: DisconnectReason) {
        let room = member.room
        guard room >= 0 else { return }
        forget(member, in: room)
        perform(.left(member.handle, reason), in: room)
    }

    private func forget(_ member: Member, in room: Int) {
        member.room = -1
        rooms[room]?.seats.removeAll { $0 == Int(member.handle.seat) }
    }

    private func removeRoom(_ index: Int) {
        guard let hosted = rooms[index] else { return }
        roomByName[hosted.name] = nil
        rooms[index] = nil
        freeRooms.append(index)
    }

    /// A track's meter found that a talkspurt began or ended.
    func talk(_ edge: TrackMeter.Edge, patch: Int, publishedBy seat: Int) {
        let (track, room) = panel.update(patch, publishedBy: seat) { ($0.track, $0.room) }
        switch edge {
        case .started(let time): perform(.talkStarted(track, at: time), in: room)
        case .stopped(let time, let reason): perform(.talkStopped(track, at: time, reason), in: room)
        case .restarted(let time, let end):
            perform(.talkStopped(track, at: end, .silence), in: room)
            perform(.talkStarted(track, at: time), in: room)
        }
    }
}
