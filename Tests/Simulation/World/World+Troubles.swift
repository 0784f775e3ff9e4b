internal import Engine
internal import Wire

extension World {
    func scheduleTrouble() {
        let rate = swarm.troubles.reduce(0, +)
        guard rate > 0 else { return }
        agenda.add(.trouble, at: now + chance.exponential(mean: .nanoseconds(Int64(1e9 / rate))))
    }

    /// One trouble, drawn by how often each happens in this world.
    func trouble() {
        guard case .chaos = phase else { return }
        defer { scheduleTrouble() }
        var place = chance.unit() * swarm.troubles.reduce(0, +)
        for trouble in Trouble.allCases {
            place -= swarm.troubles[trouble.rawValue]
            if place < 0, swarm.troubles[trouble.rawValue] > 0 { return make(trouble) }
        }
    }

    private func make(_ trouble: Trouble) {
        switch trouble {
        case .pauseShard:
            let shard = chance.below(shards.count)
            shards[shard].pause(for: draw(upTo: swarm.pauseMax))
        case .clogUp, .clogDown, .freeze, .readSlowly, .reset, .vanish, .duplicate:
            guard let stay = chance.pick(peers.compactMap(\.stay)) else { return }
            note("\(trouble) for \(stay)")
            disturb(stay, by: trouble)
        case .deleteRoom, .removeSomebody, .muteTrack, .changePermission, .changeMetadata:
            administer(trouble)
        }
    }

    private func disturb(_ stay: Stay, by trouble: Trouble) {
        switch trouble {
        case .clogUp: stay.line.upClogUntil = now + draw(upTo: swarm.clogMax)
        case .clogDown: stay.line.downClogUntil = now + draw(upTo: swarm.clogMax)
        case .freeze: stay.line.readsAgainAt = now + draw(upTo: swarm.clogMax)
        case .readSlowly: stay.line.readingPause = stay.line.readingPause == .zero ? draw(upTo: .milliseconds(100)) : .zero
        case .reset: stay.breakOff(isTold: true)
        case .vanish: stay.breakOff(isTold: false)
        // The older connection stays as it is: the gateway must end it.
        case .duplicate: stay.peer.connect()
        default: break
        }
    }

    /// What an administrator does reaches the room's home by mail.
    private func administer(_ trouble: Trouble) {
        let room = chance.below(swarm.roomCount)
        guard let home = directory.home(of: roomName(room)), let peer = chance.pick(peers.filter { $0.room == room }) else { return }
        let command: Room.AdminCommand
        switch trouble {
        case .deleteRoom: command = .delete
        case .removeSomebody: command = .remove(peer.identity)
        case .muteTrack:
            guard let track = chance.pick(peer.stay?.published ?? []) else { return }
            command = .mute(track.sid, muted: true)
        case .changePermission: command = .updatePermission(peer.identity, peer.drawPermission())
        default: command = .updateMetadata("\(chance.below(1_000))")
        }
        note("\(trouble) in room \(room)")
        mailboxes[home].post(.administer(roomName(room), command))
        shards[home].wakeSoon()
    }

    func roomName(_ room: Int) -> String { "room-\(room)" }
}
