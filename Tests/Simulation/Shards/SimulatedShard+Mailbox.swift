internal import Engine
internal import Wire

/// Messages and frames between shards. Threads may interleave at every `World.meanwhile`.
extension SimulatedShard {
    func drainMailbox() {
        for peer in arrivals.indices { takeArrivals(from: peer) }
        repeat {
            hasLateArrivals = false
            world.meanwhile(besides: index)
            for message in world.mailboxes[index].drain() { handle(message) }
        } while hasLateArrivals
        flushPlayoutReports()
        for peer in arrivals.indices where !arrivals[peer].isEmpty {
            forwardArrivals(from: peer) { _ in true }
        }
        if aheads.hasFresh { releaseFresh() }
    }

    private func takeArrivals(from peer: Int) {
        if peer != index { arrivals[peer] += world.trunk(from: peer, to: index).take() }
    }

    private func forwardArrivals(from peer: Int, where isWanted: (SimulatedTrunk.Frame) -> Bool) {
        let batch = arrivals[peer]
        arrivals[peer] = []
        var left: [SimulatedTrunk.Frame] = []
        for trunkFrame in batch {
            if isWanted(trunkFrame) { forward(trunkFrame) } else { left.append(trunkFrame) }
        }
        arrivals[peer] = left + arrivals[peer]
    }

    /// Forwards frames that are still in the trunk before the remote track closes.
    func forwardRemaining(of alias: TrackAlias, by publisher: ParticipantHandle) {
        guard remoteTracks.hasSubscribers(to: alias, of: publisher) else { return }
        let peer = Int(publisher.shard)
        takeArrivals(from: peer)
        hasLateArrivals = true
        forwardArrivals(from: peer) { trunkFrame in
            guard trunkFrame.publisher == publisher, FrameReading.uncheckedHeader(of: trunkFrame.frame).alias == alias else { return false }
            return trunkFrame.frame.withUnsafeBytes { EarlierRecord($0) }.map { remoteTracks.isAwaiting($0, of: publisher) } ?? true
        }
    }

    private func handle(_ message: ShardMessage) {
        switch message {
        case .joined(let handle, let ticket): welcome(handle, ticket)
        case .input(let input, let handle):
            if let room = guests[handle] { perform(input, in: room) }
        case .left(let handle, let reason):
            if let room = guests.removeValue(forKey: handle) { perform(.left(handle, reason), in: room) }
            post(.slotIsFree(handle), to: Int(handle.shard))
        case .deliver(let event, let handles, let isReplay):
            for handle in handles {
                if let member = member(at: handle) { send(event, isReplay: isReplay, to: member) }
            }
        case .effect(let effect): performHere(effect)
        case .slotIsFree(let handle): freeSlot(handle)
        case .takeAhead(let track): takeAhead(track)
        case .takeOver(let handle, let handover): takeOver(handle, handover)
        // A late one would override a subscription that a settled peer has requested, and the peer is not told.
        case .administer(_, .subscribe) where world.phase != .chaos: break
        case .administer(let name, let command):
            if let room = roomByName[name] {
                perform(.administered(command), in: room)
            } else if case .callProcedure(_, let number) = command {
                world.endAdministrativeCall(number)
            }
        }
    }

    func post(_ message: ShardMessage, to shard: Int) {
        if shard == index { return handle(message) }
        world.mailboxes[shard].post(message)
        world.shards[shard].wakeSoon()
        world.meanwhile(besides: index)
    }

    // MARK: To the home shard

    func join(_ member: SimulatedMember, _ ticket: JoinTicket) {
        let home = world.directory.claim(ticket.room, for: index)
        if home == index {
            let room = roomIndex(named: ticket.room, settings: ticket.settings)
            member.location = .here(room: room)
            rooms[room]?.slots.append(Int(member.handle.slot))
            perform(.joined(member.handle, ticket.admission), in: room)
        } else {
            member.location = .on(shard: home)
            post(.joined(member.handle, ticket), to: home)
        }
    }

    private func welcome(_ handle: ParticipantHandle, _ ticket: JoinTicket) {
        world.directory.arrived(in: ticket.room)
        let room = roomIndex(named: ticket.room, settings: ticket.settings)
        guests[handle] = room
        perform(.joined(handle, ticket.admission), in: room)
    }

    func report(_ input: Room.Input, roomOf member: SimulatedMember) {
        switch member.location {
        case .here(let room): perform(input, in: room)
        case .on(let home): post(.input(input, of: member.handle), to: home)
        case .nowhere: break
        }
    }

    // MARK: From the home shard

    func send(_ event: Event, to handles: [ParticipantHandle], isReplay: Bool = false) {
        guard !handles.isEmpty else { return }
        let encoded = EncodedEvent(event)
        for handle in handles where Int(handle.shard) == index {
            if let member = member(at: handle) { send(encoded, isReplay: isReplay, to: member) }
        }
        for shard in world.shards.indices where shard != index {
            let there = handles.filter { Int($0.shard) == shard }
            if !there.isEmpty { post(.deliver(encoded, to: there, isReplay: isReplay), to: shard) }
        }
    }

    func perform(_ effect: Room.Effect, whereIs handle: ParticipantHandle) {
        if Int(handle.shard) == index {
            performHere(effect)
        } else {
            post(.effect(effect), to: Int(handle.shard))
        }
    }

    func perform(_ change: Room.PatchChange) {
        switch change {
        case .publish(_, let publisher), .keep(_, let publisher, _): perform(.patch(change), whereIs: publisher)
        case .subscribe(let subscriber, _, let publisher, _), .unsubscribe(let subscriber, _, let publisher):
            perform(.patch(change), whereIs: subscriber)
            if publisher.shard != subscriber.shard { perform(.patch(change), whereIs: publisher) }
        case .move(_, _, let publisher, _, _):
            perform(change, on: Int(publisher.shard))
            for shard in world.shards.indices where shard != Int(publisher.shard) { perform(change, on: shard) }
        case .unpublish, .gate, .retain:
            performHere(.patch(change))
            for shard in world.shards.indices where shard != index { post(.effect(.patch(change)), to: shard) }
        case .clear(_, let publisher, _):
            for shard in world.shards.indices where shard != Int(publisher.shard) { perform(change, on: shard) }
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
        world.log("shard \(index): \(change)")
        switch change {
        case .publish(let track, let publisher):
            let aheadIndex = track.mode == .ahead ? openAhead(track, by: publisher) : nil
            panel.publish(track, by: Int(publisher.slot), aheadIndex: aheadIndex)
        case .unpublish(let alias, let publisher):
            if isHere(publisher) {
                forgetSpeech(of: alias, by: publisher)
                panel.unpublish(alias, by: Int(publisher.slot))
            }
            if let aheadIndex = aheads.index(of: alias, by: publisher) {
                closeAhead(aheadIndex)
            } else if !isHere(publisher) {
                forwardRemaining(of: alias, by: publisher)
                remoteTracks.remove(alias, of: publisher)
            }
        case .move(let track, let old, let new, let gate, let subscribers): move(track, from: old, to: new, gate, subscribers: subscribers)
        case .gate(let alias, let publisher, let gate):
            if isHere(publisher) { panel.setGate(gate, of: alias, by: Int(publisher.slot)) }
            if let aheadIndex = aheads.index(of: alias, by: publisher) {
                pauseAhead(aheadIndex, gate != .open)
            } else if !isHere(publisher) {
                if gate != .open { forwardRemaining(of: alias, by: publisher) }
                remoteTracks.setGate(gate, of: alias, by: publisher)
            }
        case .clear(let alias, let publisher, let epoch):
            if isHere(publisher) { panel.clear(alias, by: Int(publisher.slot), epoch: epoch) }
            if let aheadIndex = aheads.index(of: alias, by: publisher) { clearAhead(aheadIndex, epoch: epoch) }
        case .retain(let alias, let publisher, let time):
            if let aheadIndex = aheads.index(of: alias, by: publisher) { aheads.tracks[aheadIndex].retain(from: time) }
        case .subscribe(let subscriber, let alias, let publisher, let options) where options.mode == .ahead:
            if isHere(subscriber) {
                subscribeAhead(alias, of: publisher, by: subscriber, options)
            } else if panel.add(trunk: subscriber.shard, to: alias, of: Int(publisher.slot)) {
                replayAhead(alias, of: publisher, to: subscriber.shard, options)
            }
        case .keep(let track, let publisher, let isKept):
            if isKept { keepSpeech(of: track, by: publisher) } else { forgetSpeech(of: track.alias, by: publisher) }
        case .subscribe(let subscriber, let alias, let publisher, let options):
            if let limit = options.earlier, isHere(publisher) { sendEarlierSpeech(of: alias, by: publisher, to: subscriber, limit) }
            switch (isHere(subscriber), isHere(publisher)) {
            case (true, true): panel.add(subscriber: subscriber.slot, to: alias, of: Int(publisher.slot))
            case (true, false):
                guard member(at: subscriber) != nil else { return }
                if options.earlier == nil {
                    remoteTracks.add(subscriber: subscriber.slot, to: alias, of: publisher)
                } else {
                    remoteTracks.add(awaiting: subscriber.slot, to: alias, of: publisher)
                }
            case (false, _): panel.add(trunk: subscriber.shard, to: alias, of: Int(publisher.slot))
            }
        case .unsubscribe(let subscriber, let alias, let publisher):
            if isHere(subscriber), let aheadIndex = aheads.index(of: alias, by: publisher) {
                return unsubscribeAhead(aheadIndex, by: subscriber)
            }
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
