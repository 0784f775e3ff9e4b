internal import Engine
internal import Wire

/// A room that is homed on a shard.
struct HostedRoom {
    var room: Room
    let name: String
    var seats: [Int] = []
    var independents = 0
    /// Who is in it, as its inputs and effects tell.
    var present: Set<ParticipantHandle> = []
}

/// As `Shard+Rooms`.
extension SimulatedShard {
    func roomIndex(named name: String, settings: RoomSettings) -> Int {
        if let index = roomByName[name] { return index }
        let index = freeRooms.popLast() ?? rooms.count
        if index == rooms.count { rooms.append(nil) }
        let seed = world.chance.next()
        var identifiers = IdentifierSource(seed: ~seed)
        let room = Room(name: name, sid: identifiers.room(), settings: settings, createdAt: 0, seed: seed, at: now)
        rooms[index] = HostedRoom(room: room, name: name)
        roomByName[name] = index
        world.note("\(name) opens on shard \(self.index)")
        return index
    }

    func perform(_ input: Room.Input, in index: Int) {
        guard index >= 0, rooms[index] != nil else { return }
        var effects: [Room.Effect] = []
        rooms[index]?.room.handle(input, at: now, into: &effects)
        checkPresence(input, effects, in: index)
        for effect in effects {
            if case .patch(let change) = effect { world.truth.note(change, home: self.index, at: world.now) }
        }
        performing += 1
        for effect in effects { perform(effect, of: index) }
        performing -= 1
        noteWhoFill(index)
        tellFacts()
    }

    private func noteWhoFill(_ index: Int) {
        guard let room = rooms[index]?.room, room.isLimited, rooms[index]?.independents != room.participantCount else { return }
        rooms[index]?.independents = room.participantCount
        world.directory.note(whoFill: room.name, room.whoFillIt)
    }

    /// Nobody is named who has not come or has left.
    private func checkPresence(_ input: Room.Input, _ effects: [Room.Effect], in index: Int) {
        guard var present = rooms[index]?.present else { return }
        if case .joined(let handle, _) = input { present.insert(handle) }
        for effect in effects {
            for handle in effect.named where !present.contains(handle) { world.fail("somebody who is not in the room is named: \(effect)") }
            if case .close(let handle, _) = effect { present.remove(handle) }
        }
        if case .left(let handle, _) = input { present.remove(handle) }
        rooms[index]?.present = present
    }

    private func perform(_ effect: Room.Effect, of room: Int) {
        switch effect {
        case .send(let event, let handles): send(event, to: handles)
        case .reply(_, _, let handle), .refuse(_, _, let handle), .mintToken(let handle, _, _): perform(effect, whereIs: handle)
        case .patch(let change): perform(change)
        case .close(let handle, _):
            guests[handle] = nil
            perform(effect, whereIs: handle)
        case .closed: removeRoom(room)
        }
    }

    func performHere(_ effect: Room.Effect) {
        switch effect {
        case .reply(let reply, let id, let handle):
            if let member = member(at: handle) { send(answer: EncodedAnswer.bytes(of: reply, re: id), to: member) }
        case .refuse(let error, let id, let handle):
            if let member = member(at: handle) { refuse(error, re: id, to: member) }
        case .mintToken(let handle, _, let id):
            guard let member = member(at: handle) else { return }
            if let id {
                send(answer: EncodedAnswer.bytes(of: .token("token", expiresAt: 600), re: id), to: member)
            } else {
                send(.tokenRefreshed(token: "token", expiresAt: 600), to: member)
            }
        case .close(let handle, let reason):
            guard let member = member(at: handle) else { return }
            forget(member)
            finish(member, reason)
        case .patch(let change): apply(change)
        case .send, .closed: world.fail("is done at the room's home: \(effect)")
        }
    }

    func leaveRoom(_ member: SimulatedMember, _ reason: DisconnectReason) {
        let place = member.place
        forget(member)
        switch place {
        case .here(let room):
            perform(.left(member.handle, reason), in: room)
            freeSeat(member.handle)
        case .on(let home):
            seats[Int(member.handle.seat)] = nil
            post(.left(member.handle, reason), to: home)
        case .nowhere:
            freeSeat(member.handle)
        }
    }

    private func forget(_ member: SimulatedMember) {
        if case .here(let room) = member.place { rooms[room]?.seats.removeAll { $0 == Int(member.handle.seat) } }
        member.place = .nowhere
    }

    private func removeRoom(_ index: Int) {
        guard let hosted = rooms[index] else { return }
        world.note("\(hosted.name) is over on shard \(self.index)")
        roomByName[hosted.name] = nil
        world.directory.release(hosted.name)
        rooms[index] = nil
        freeRooms.append(index)
    }

    func talk(_ edge: TrackMeter.Edge, of track: TrackSID, publishedBy publisher: SimulatedMember) {
        switch edge {
        case .started(let time): tell(.talkStarted(track, at: time), roomOf: publisher)
        case .stopped(let time, let reason): tell(.talkStopped(track, at: time, reason), roomOf: publisher)
        case .restarted(let time, let end):
            tell(.talkStopped(track, at: end, .silence), roomOf: publisher)
            tell(.talkStarted(track, at: time), roomOf: publisher)
        }
    }
}
