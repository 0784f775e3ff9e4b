internal import Engine
internal import Identity
internal import Sockets
internal import Wire

/// A room that is homed here, and which slots of this shard are in it.
///
/// Not a value: to look at one in an array would copy all that it refers to.
final class HostedRoom {
    @exclusivity(unchecked) var room: Room
    let name: String
    var slots: [Int] = []
    /// As the directory knows it.
    var independents = 0
    /// After the last input.
    private(set) var status: Room.Status

    init(room: Room, name: String) {
        self.room = room
        self.name = name
        status = self.room.status()
    }

    func handle(_ input: Room.Input, at now: Instant, into effects: inout [Room.Effect]) {
        room.handle(input, at: now, into: &effects)
        status = room.status()
    }
}

/// Drives the rooms: an input in, its effects done in order.
extension Shard {
    /// The room of that name, made if it is not there.
    func roomIndex(named name: String, settings: RoomSettings) -> Int {
        if let index = roomByName[name] { return index }
        let index = freeRooms.popLast() ?? rooms.count
        if index == rooms.count {
            rooms.append(nil)
            roomDeadlines.append(nil)
        }
        let seed = UInt64.random(in: 0 ... .max)
        var identifiers = IdentifierGenerator(seed: ~seed)
        let room = Room(
            name: name, sid: identifiers.room(), settings: kept(settings, room: name), createdAt: WallClock.seconds, seed: seed,
            at: clock.now)
        let hosted = HostedRoom(room: room, name: name)
        rooms[index] = hosted
        roomDeadlines[index] = hosted.status.deadline
        roomByName[name] = index
        return index
    }

    /// Hands a room its input and does what it wants done.
    func perform(_ input: Room.Input, in index: Int) {
        guard index >= 0, let hosted = rooms[index] else { return }
        var effects = self.effects
        self.effects = []
        effects.removeAll(keepingCapacity: true)
        hosted.handle(input, at: clock.now, into: &effects)
        roomDeadlines[index] = hosted.status.deadline
        performing += 1
        for effect in effects { perform(effect, of: index) }
        performing -= 1
        noteWhoFill(hosted)
        effects.removeAll(keepingCapacity: true)
        self.effects = effects
        tellFacts()
    }

    /// Tells the directory when a room becomes full, or is so no longer.
    private func noteWhoFill(_ hosted: HostedRoom) {
        guard let count = hosted.status.limitedParticipantCount, hosted.independents != count else { return }
        hosted.independents = count
        common.directory.setFull(hosted.name, hosted.room.identitiesWhenFull)
    }

    private func perform(_ effect: Room.Effect, of room: Int) {
        switch effect {
        case .send(let event, let handles): send(event, to: handles)
        case .reply(_, _, let handle), .reject(_, _, let handle), .mintToken(let handle, _, _): perform(effect, whereIs: handle)
        case .patch(let change): perform(change)
        case .handOver(let old, let new):
            guests[old] = nil
            perform(effect, whereIs: new)
            if old.shard != new.shard { perform(effect, whereIs: old) }
        case .close(let handle, _):
            guests[handle] = nil
            perform(effect, whereIs: handle)
        case .record(let fact, let snapshot): record(fact, in: snapshot)
        case .tap(_, let publisher), .untap(_, let publisher): perform(effect, whereIs: publisher)
        case .closed: removeRoom(room)
        }
    }

    /// Does what concerns a participant whose socket is here, or a track.
    func performHere(_ effect: Room.Effect) {
        switch effect {
        case .reply(let reply, let id, let handle):
            if let member = member(at: handle) { send(answer: EncodedReply.bytes(of: reply, re: id), to: member) }
        case .reject(let error, let id, let handle):
            if let member = member(at: handle) { refuse(error, re: id, to: member) }
        case .mintToken(let handle, let content, let id):
            if let member = member(at: handle) { sendToken(content, re: id, to: member) }
        case .close(let handle, let reason):
            guard let member = member(at: handle) else { return }
            forget(member)
            if member.link == .lost { endAbsence(of: member) } else { finish(member, reason) }
        case .handOver(let old, let new): handOver(from: old, to: new)
        case .patch(let change): apply(change)
        case .tap(let order, let publisher): tap(order, by: publisher)
        case .untap(let track, let publisher): untap(track, by: publisher)
        case .send, .record, .closed: assertionFailure("is done at the room's home: \(effect)")
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
            send(answer: EncodedReply.bytes(of: .token(token, expiresAt: expiry), re: id), to: member)
        } else {
            send(.tokenRefreshed(token: token, expiresAt: expiry), to: member)
        }
    }

    /// The socket is gone: the room hears of it once, and the slot is free as soon as nothing more is on its way to it.
    func leaveRoom(_ member: Member, _ reason: DisconnectReason) {
        let place = member.place
        forget(member)
        switch place {
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

    /// The room has nothing to do with this slot any more.
    func forget(_ member: Member) {
        if case .here(let room) = member.place { rooms[room]?.slots.removeAll { $0 == Int(member.handle.slot) } }
        member.place = .nowhere
    }

    private func removeRoom(_ index: Int) {
        guard let hosted = rooms[index] else { return }
        roomByName[hosted.name] = nil
        common.directory.release(hosted.name)
        rooms[index] = nil
        roomDeadlines[index] = nil
        freeRooms.append(index)
    }

    /// A track's meter found that a talkspurt began or ended.
    func talk(_ edge: TrackMeter.Edge, of track: TrackSID, publishedBy publisher: Member) {
        switch edge {
        case .started(let time): tell(.talkStarted(track, at: time), roomOf: publisher)
        case .stopped(let time, let reason): tell(.talkStopped(track, at: time, reason), roomOf: publisher)
        case .restarted(let time, let end):
            tell(.talkStopped(track, at: end, .silence), roomOf: publisher)
            tell(.talkStarted(track, at: time), roomOf: publisher)
        }
    }
}
