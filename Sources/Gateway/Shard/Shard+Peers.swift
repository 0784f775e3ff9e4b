internal import Backend
internal import Engine
internal import Sockets
internal import Wire

/// What shards have to do with each other. A room is homed on one of them; its participants' sockets may be on any. Their joins,
/// requests and measurements go to the home, its effects come back, and frames go straight from the publisher's shard to the
/// subscribers'.
///
/// What keeps the order: a mailbox is first in, first out; a home posts what it wants done one after the other; and whoever is
/// woken takes the trunks' frames first, then does all that came by mail, and only then carries the frames. So a frame that was
/// sent because of something is never carried before it. And what ends a track or closes its gate lets the frames pass that
/// were admitted before it: none is lost because mail is faster.
extension Shard {
    func woken() {
        for peer in arrivals.indices { takeArrivals(from: peer) }
        repeat {
            hasLateArrivals = false
            inbox.removeAll(keepingCapacity: true)
            mailbox.drain(into: &inbox)
            for message in inbox { handle(message) }
        } while hasLateArrivals
        tellFacts()
        for peer in arrivals.indices where !arrivals[peer].isEmpty {
            carryArrivals(from: peer) { _, _ in true }
            arrivals[peer].removeAll()
        }
        if aheads.hasFresh { releaseFresh() }
    }

    private func takeArrivals(from peer: Int) {
        if peer != index { common.trunk(from: peer, to: index).take(into: &arrivals[peer]) }
    }

    /// Carries the frames of one shard that are wanted, once each.
    private func carryArrivals(
        from peer: Int, where isWanted: (_ frame: UnsafeRawBufferPointer, _ publisher: ParticipantHandle) -> Bool
    ) {
        // Taken out meanwhile: what a frame brings about may look for arrivals itself.
        var batch = TrunkBatch()
        swap(&batch, &arrivals[peer])
        batch.take { frame, publisher in
            guard isWanted(frame, publisher) else { return false }
            carry(frame, from: publisher)
            return true
        }
        swap(&batch, &arrivals[peer])
    }

    /// Carries what a track's publisher has said up to now, before its remote track closes.
    ///
    /// More may have come than was taken when this turn began. Those frames wait for mail that came before them.
    func carryLastWords(of alias: TrackAlias, by publisher: ParticipantHandle) {
        guard remoteTracks.hasSubscribers(to: alias, of: publisher) else { return }
        let peer = Int(publisher.shard)
        takeArrivals(from: peer)
        hasLateArrivals = true
        carryArrivals(from: peer) { frame, speaker in
            speaker == publisher && frame.baseAddress.map { FrameHeader(unchecked: $0).alias } == alias
        }
    }

    private func handle(_ message: ShardMessage) {
        switch message {
        case .drain(let deadline, let wallClock): startDraining(until: deadline, wallClock: wallClock)
        case .reload(let keys, let tls): reload(keys, tls)
        case .emptied(let shard): noteEmptied(shard)
        case .joined(let handle, let ticket): welcome(handle, ticket)
        case .input(let input, let handle):
            if let room = guests[handle] { perform(input, in: room) }
        case .left(let handle, let reason):
            if let room = guests.removeValue(forKey: handle) { perform(.left(handle, reason), in: room) }
            post(.slotIsFree(handle), to: Int(handle.shard))
            finishDrainIfEmpty()
        case .deliver(let event, let handles):
            for handle in handles {
                if let member = member(at: handle) { send(event, to: member) }
            }
        case .effect(let effect): performHere(effect)
        case .slotIsFree(let handle): freeSlot(handle)
        case .takeAhead(let track): takeAhead(track)
        case .takeOver(let handle, let handover): takeOver(handle, handover)
        case .request(.device(let order)): perform(order)
        case .request(.query(let query, let reply)): reply(answer(query))
        case .respond(let answer, let number): respond(answer, toRequest: number)
        }
    }

    func post(_ message: ShardMessage, to shard: Int) {
        if shard == index {
            handle(message)
        } else {
            common.mailboxes[shard].post(message)
        }
    }

    // MARK: Towards the home

    /// Brings somebody whose socket is here into its room, wherever that is.
    func join(_ member: Member, _ ticket: JoinTicket) {
        let home = common.directory.claim(ticket.room, for: index)
        if home == index {
            let room = roomIndex(named: ticket.room, settings: ticket.settings)
            member.place = .here(room: room)
            rooms[room]?.slots.append(Int(member.handle.slot))
            perform(.joined(member.handle, ticket.admission), in: room)
        } else {
            member.place = .on(shard: home)
            post(.joined(member.handle, ticket), to: home)
        }
    }

    /// Somebody whose socket is elsewhere comes into a room here.
    private func welcome(_ handle: ParticipantHandle, _ ticket: JoinTicket) {
        common.directory.arrived(in: ticket.room)
        let room = roomIndex(named: ticket.room, settings: ticket.settings)
        guests[handle] = room
        perform(.joined(handle, ticket.admission), in: room)
    }

    /// Tells a participant's room, wherever it is.
    func tell(_ input: Room.Input, roomOf member: Member) {
        switch member.place {
        case .here(let room): perform(input, in: room)
        case .on(let home): post(.input(input, of: member.handle), to: home)
        case .nowhere: break
        }
    }

    // MARK: From the home

    /// Sends an event to all of them, encoded once.
    func send(_ event: Event, to handles: [ParticipantHandle]) {
        guard !handles.isEmpty else { return }
        let encoded = EncodedEvent(event)
        var areElsewhere = false
        for handle in handles {
            if Int(handle.shard) != index {
                areElsewhere = true
            } else if let member = member(at: handle) {
                send(encoded, to: member)
            }
        }
        guard areElsewhere else { return }
        for shard in common.mailboxes.indices where shard != index {
            let there = handles.filter { Int($0.shard) == shard }
            if !there.isEmpty { post(.deliver(encoded, to: there), to: shard) }
        }
    }

    /// Has an effect done where its participant's socket is.
    func perform(_ effect: Room.Effect, whereIs handle: ParticipantHandle) {
        if Int(handle.shard) == index {
            performHere(effect)
        } else {
            post(.effect(effect), to: Int(handle.shard))
        }
    }

    /// Has a patch changed on the shards that it is on. The subscriber's comes first, so that it knows for whom the frames are; and where a
    /// track is cleared the publisher's comes last, so that every shard knows of the new epoch before a frame of it comes.
    func perform(_ change: Room.PatchChange) {
        switch change {
        case .publish(_, let publisher):
            perform(.patch(change), whereIs: publisher)
        case .subscribe(let subscriber, _, let publisher, _), .unsubscribe(let subscriber, _, let publisher):
            perform(.patch(change), whereIs: subscriber)
            if publisher.shard != subscriber.shard { perform(.patch(change), whereIs: publisher) }
        case .move(_, _, let publisher, _, _):
            // Where it is published now first: what goes there from where it was comes after.
            perform(change, on: Int(publisher.shard))
            for shard in common.mailboxes.indices where shard != Int(publisher.shard) { perform(change, on: shard) }
        case .unpublish, .gate, .retain:
            performHere(.patch(change))
            for shard in common.mailboxes.indices where shard != index { post(.effect(.patch(change)), to: shard) }
        case .clear(_, let publisher, _):
            for shard in common.mailboxes.indices where shard != Int(publisher.shard) { perform(change, on: shard) }
            perform(change, on: Int(publisher.shard))
        }
    }

    private func perform(_ change: Room.PatchChange, on shard: Int) {
        if shard == index {
            performHere(.patch(change))
        } else {
            post(.effect(.patch(change)), to: shard)
        }
    }

    func apply(_ change: Room.PatchChange) {
        switch change {
        case .publish(let track, let publisher):
            let place = track.mode == .ahead ? openAhead(track, by: publisher) : nil
            panel.publish(track, by: Int(publisher.slot), aheadIndex: place)
        case .unpublish(let alias, let publisher):
            if isHere(publisher) {
                forgetTap(of: alias, by: publisher)
                panel.unpublish(alias, by: Int(publisher.slot))
            }
            if let place = aheads.index(of: alias, by: publisher) {
                closeAhead(place)
            } else if !isHere(publisher) {
                carryLastWords(of: alias, by: publisher)
                remoteTracks.remove(alias, of: publisher)
            }
        case .move(let track, let old, let new, let gate, let subscribers): move(track, from: old, to: new, gate, heardBy: subscribers)
        case .gate(let alias, let publisher, let gate):
            if isHere(publisher) { panel.setGate(gate, of: alias, by: Int(publisher.slot)) }
            if let place = aheads.index(of: alias, by: publisher) {
                pauseAhead(place, gate != .open)
            } else if !isHere(publisher) {
                if gate != .open { carryLastWords(of: alias, by: publisher) }
                remoteTracks.setGate(gate, of: alias, by: publisher)
            }
        case .clear(let alias, let publisher, let epoch):
            if isHere(publisher) { panel.clear(alias, by: Int(publisher.slot), epoch: epoch) }
            if let place = aheads.index(of: alias, by: publisher) { clearAhead(place, epoch: epoch) }
        case .retain(let alias, let publisher, let time):
            if let place = aheads.index(of: alias, by: publisher) { aheads.tracks[place].retain(from: time) }
        case .subscribe(let subscriber, let alias, let publisher, let listening) where listening.mode == .ahead:
            if isHere(subscriber) {
                hearAhead(alias, of: publisher, by: subscriber, listening)
            } else if panel.add(trunk: subscriber.shard, to: alias, of: Int(publisher.slot)) {
                replayAhead(alias, of: publisher, to: subscriber.shard, listening)
            }
        case .subscribe(let subscriber, let alias, let publisher, _):
            // An assistant has no loudspeaker, and its path loses next to nothing.
            if let member = member(at: subscriber), member.kind != .agent { member.connection.tcp.tuneForLiveMedia() }
            switch (isHere(subscriber), isHere(publisher)) {
            case (true, true): panel.add(subscriber: subscriber.slot, to: alias, of: Int(publisher.slot))
            case (true, false): if member(at: subscriber) != nil { remoteTracks.add(subscriber: subscriber.slot, to: alias, of: publisher) }
            case (false, _): panel.add(trunk: subscriber.shard, to: alias, of: Int(publisher.slot))
            }
        case .unsubscribe(let subscriber, let alias, let publisher):
            if isHere(subscriber), let place = aheads.index(of: alias, by: publisher) { return stopHearingAhead(place, by: subscriber) }
            switch (isHere(subscriber), isHere(publisher)) {
            case (true, true): panel.remove(subscriber: subscriber.slot, from: alias, of: Int(publisher.slot))
            case (true, false): remoteTracks.remove(subscriber: subscriber.slot, from: alias, of: publisher)
            case (false, _):
                if panel.remove(trunk: subscriber.shard, from: alias, of: Int(publisher.slot)) {
                    forgetReplay(of: alias, by: publisher, to: subscriber.shard)
                }
            }
        }
    }

    func isHere(_ handle: ParticipantHandle) -> Bool { Int(handle.shard) == index }
}
