internal import Engine
internal import Wire

/// A room on its home shard.
struct HostedRoom {
    var room: Room
    let name: String
    var slots: [Int] = []
    var independents = 0
    /// Its participants, derived from inputs and effects.
    var present: Set<ParticipantHandle> = []
    var status = Room.Status()
}

/// Rooms, as in the gateway's `RoomHost`.
extension SimulatedShard {
    func roomIndex(named name: String, settings: RoomSettings) -> Int {
        if let index = roomByName[name] { return index }
        let index = freeRooms.popLast() ?? rooms.count
        if index == rooms.count { rooms.append(nil) }
        let seed = world.random.next()
        var identifiers = IdentifierGenerator(seed: ~seed)
        let room = Room(
            name: name, sid: identifiers.room(), settings: settings, createdAt: 0, seed: seed,
            resumeTokens: { "RT_\($0.revealedText)_\($1)" }, at: now)
        var hosted = HostedRoom(room: room, name: name)
        hosted.status = hosted.room.status()
        rooms[index] = hosted
        roomByName[name] = index
        world.log("\(name) opens on shard \(self.index)")
        return index
    }

    func perform(_ input: Room.Input, in index: Int) {
        guard index >= 0, rooms[index] != nil else { return }
        var effects: [Room.Effect] = []
        rooms[index]?.room.handle(input, at: now, into: &effects)
        let status = rooms[index]?.room.status()
        rooms[index]?.status = status ?? Room.Status()
        checkPresence(input, effects, in: index)
        for effect in effects {
            if case .patch(let change) = effect { world.routing.apply(change, home: self.index, at: world.now) }
        }
        performing += 1
        for effect in effects { perform(effect, of: index) }
        performing -= 1
        updateFullness(index)
        flushPlayoutReports()
    }

    private func updateFullness(_ index: Int) {
        guard let hosted = rooms[index], let count = hosted.status.limitedParticipantCount, hosted.independents != count else { return }
        rooms[index]?.independents = count
        world.directory.setFull(hosted.name, hosted.room.identitiesWhenFull)
    }

    /// Effects must name present participants only.
    private func checkPresence(_ input: Room.Input, _ effects: [Room.Effect], in index: Int) {
        guard var present = rooms[index]?.present else { return }
        if case .joined(let handle, _) = input { present.insert(handle) }
        for effect in effects {
            for handle in effect.named where !present.contains(handle) {
                world.fail("an effect names a participant that is not in the room: \(effect)")
            }
            if case .close(let handle, _) = effect { present.remove(handle) }
            if case .handOver(let old, _) = effect { present.remove(old) }
        }
        if case .left(let handle, _) = input { present.remove(handle) }
        rooms[index]?.present = present
    }

    private func perform(_ effect: Room.Effect, of room: Int) {
        switch effect {
        case .send(let event, let handles): send(event, to: handles)
        case .replay(let event, let handle): send(event, to: [handle], isReplay: true)
        case .reply(_, _, let handle), .reject(_, _, let handle), .mintToken(let handle, _, _): perform(effect, whereIs: handle)
        case .patch(let change): perform(change)
        case .handOver(let old, let new):
            guests[old] = nil
            perform(effect, whereIs: new)
            if old.shard != new.shard { perform(effect, whereIs: old) }
        case .close(let handle, _):
            guests[handle] = nil
            perform(effect, whereIs: handle)
        case .record, .agent, .attended, .tap, .untap: world.fail("a room without recording has the effect \(effect)")
        case .procedureEnded(let number, _): world.endAdministrativeCall(number)
        case .closed: removeRoom(room)
        }
    }

    func performHere(_ effect: Room.Effect) {
        switch effect {
        case .reply(let reply, let id, let handle):
            if let member = member(at: handle) { send(answer: EncodedReply.bytes(of: reply, re: id), to: member) }
        case .reject(let error, let id, let handle):
            if let member = member(at: handle) { reject(error, re: id, to: member) }
        case .mintToken(let handle, _, let id):
            guard let member = member(at: handle) else { return }
            if let id {
                send(answer: EncodedReply.bytes(of: .token("token", expiresAt: 600), re: id), to: member)
            } else {
                send(.tokenRefreshed(token: "token", expiresAt: 600), to: member)
            }
        case .close(let handle, let reason):
            guard let member = member(at: handle) else { return }
            forget(member)
            if member.link == .lost { endAbsence(of: member) } else { finish(member, reason) }
        case .handOver(let old, let new): handOver(from: old, to: new)
        case .patch(let change): apply(change)
        case .send, .replay, .procedureEnded, .closed, .record, .agent, .attended, .tap, .untap:
            world.fail("an effect of the home shard was posted: \(effect)")
        }
    }

    func leaveRoom(_ member: SimulatedMember, _ reason: DisconnectReason) {
        let location = member.location
        forget(member)
        switch location {
        case .here(let room):
            perform(.left(member.handle, reason), in: room)
            freeSlot(member.handle)
        case .on(let home):
            slots[Int(member.handle.slot)] = nil
            post(.left(member.handle, reason), to: home)
        case .nowhere:
            freeSlot(member.handle)
        }
    }

    func forget(_ member: SimulatedMember) {
        if case .here(let room) = member.location { rooms[room]?.slots.removeAll { $0 == Int(member.handle.slot) } }
        member.location = .nowhere
    }

    private func removeRoom(_ index: Int) {
        guard let hosted = rooms[index] else { return }
        world.log("\(hosted.name) closes on shard \(self.index)")
        roomByName[hosted.name] = nil
        world.directory.release(hosted.name)
        rooms[index] = nil
        freeRooms.append(index)
    }

    func talk(_ edge: TrackMeter.Edge, of track: TrackSID, publishedBy publisher: SimulatedMember) {
        switch edge {
        case .started(let time): report(.talkStarted(track, at: time), roomOf: publisher)
        case .stopped(let time, let reason): report(.talkStopped(track, at: time, reason), roomOf: publisher)
        case .restarted(let time, let end):
            report(.talkStopped(track, at: end, .silence), roomOf: publisher)
            report(.talkStarted(track, at: time), roomOf: publisher)
        }
    }
}
