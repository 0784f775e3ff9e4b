internal import Engine
internal import Wire

extension World {
    func scheduleFault() {
        let rate = swarm.faults.reduce(0, +)
        guard rate > 0 else { return }
        schedule.add(.fault, at: now + random.exponential(mean: .nanoseconds(Int64(1e9 / rate))))
    }

    /// Injects one fault, drawn according to the rates of this world.
    func fault() {
        guard case .chaos = phase else { return }
        defer { scheduleFault() }
        var target = random.unit() * swarm.faults.reduce(0, +)
        for fault in Fault.allCases {
            target -= swarm.faults[fault.rawValue]
            if target < 0, swarm.faults[fault.rawValue] > 0 { return make(fault) }
        }
    }

    private func make(_ fault: Fault) {
        switch fault {
        case .pauseShard:
            let shard = random.below(shards.count)
            shards[shard].pause(for: draw(upTo: swarm.pauseMax))
        case .clogUp, .clogDown, .freeze, .readSlowly, .reset, .vanish, .duplicate:
            guard let session = random.pick(peers.compactMap(\.session)) else { return }
            log("\(fault) for \(session)")
            disturb(session, by: fault)
        case .deleteRoom, .removeParticipant, .muteTrack, .changePermission, .changeMetadata:
            administer(fault)
        }
    }

    private func disturb(_ session: PeerSession, by fault: Fault) {
        switch fault {
        case .clogUp: session.connection.upClogUntil = now + draw(upTo: swarm.clogMax)
        case .clogDown: session.connection.downClogUntil = now + draw(upTo: swarm.clogMax)
        case .freeze: session.connection.readsAgainAt = now + draw(upTo: swarm.clogMax)
        case .readSlowly:
            session.connection.readingPause = session.connection.readingPause == .zero ? draw(upTo: .milliseconds(100)) : .zero
        case .reset: session.disconnect(isReset: true)
        case .vanish: session.disconnect(isReset: false)
        // The older connection stays open: the gateway must close it.
        case .duplicate: session.peer.connect()
        default: break
        }
    }

    // MARK: Expected agents

    func scheduleExpectation() {
        guard swarm.expectations > 0 else { return }
        schedule.add(.expectation, at: now + random.exponential(mean: .nanoseconds(Int64(1e9 / swarm.expectations))))
    }

    /// A job of a room waits for its agent from now on, usually because that was lost, or does not any more. Rooms ignore what they know.
    func changeExpectation() {
        guard case .chaos = phase else { return }
        defer { scheduleExpectation() }
        guard let peer = random.pick(peers.filter { $0.kind == .agent }), let home = directory.home(of: roomName(peer.room)) else { return }
        log("the agent \(peer.identity) is expected, or is not any more")
        if random.chance(0.7) { mailboxes[home].post(.administer(roomName(peer.room), .remove(peer.identity))) }
        mailboxes[home].post(.administer(roomName(peer.room), .agentExpected(peer.identity, random.chance(0.8))))
        shards[home].wakeSoon()
    }

    // MARK: Administration

    func scheduleAdministration() {
        guard swarm.administration > 0 else { return }
        schedule.add(.administration, at: now + random.exponential(mean: .nanoseconds(Int64(1e9 / swarm.administration))))
    }

    /// An administrator changes a participant's profile, ends a subscription, or calls a procedure.
    func administrate() {
        guard case .chaos = phase else { return }
        defer { scheduleAdministration() }
        guard let peer = random.pick(peers), let home = directory.home(of: roomName(peer.room)) else { return }
        let command: Room.AdminCommand
        switch random.below(3) {
        case 0:
            let update = ParticipantUpdate(name: "\(random.below(100))", attributes: ["mood": random.chance(0.5) ? "" : "calm"])
            command = .updateParticipant(peer.identity, update, random.chance(0.3) ? peer.drawPermission() : nil)
        case 1:
            guard let track = random.pick(peer.session?.trackOrder ?? []) else { return }
            // Its client does not learn of a subscription, and would take the frames for a fault.
            command = .subscribe(peer.identity, [track], false)
        default:
            let number = administrativeCalls.begin()
            command = .callProcedure(ProcedureCall(to: peer.identity, method: "m", timeoutMs: random.between(1, 3_000)), number: number)
        }
        log("an administrator of \(roomName(peer.room)): \(command)")
        mailboxes[home].post(.administer(roomName(peer.room), command))
        shards[home].wakeSoon()
    }

    /// The outcome of an administrator's call, or the refusal of one in a room that is not open any more.
    func endAdministrativeCall(_ number: UInt64) {
        expect(administrativeCalls.end(number), "call \(number) of an administrator ended twice")
    }

    // MARK: Commands

    /// Posts an administrative command to the room's home shard.
    private func administer(_ fault: Fault) {
        let room = random.below(swarm.roomCount)
        guard let home = directory.home(of: roomName(room)), let peer = random.pick(peers.filter { $0.room == room }) else { return }
        let command: Room.AdminCommand
        switch fault {
        case .deleteRoom: command = .delete
        case .removeParticipant: command = .remove(peer.identity)
        case .muteTrack:
            guard let track = random.pick(peer.session?.published ?? []) else { return }
            command = .mute(track.sid, muted: true)
        case .changePermission: command = .updatePermission(peer.identity, peer.drawPermission())
        default: command = .updateMetadata("\(random.below(1_000))")
        }
        log("\(fault) in room \(room)")
        mailboxes[home].post(.administer(roomName(room), command))
        shards[home].wakeSoon()
    }

    func roomName(_ room: Int) -> String { "room-\(room)" }
}

/// Procedure calls of administrators without an outcome.
struct AdministrativeCalls {
    private(set) var pending: Set<UInt64> = []
    private var lastNumber: UInt64 = 0

    mutating func begin() -> UInt64 {
        lastNumber += 1
        pending.insert(lastNumber)
        return lastNumber
    }

    /// - Returns: false if it has ended before.
    mutating func end(_ number: UInt64) -> Bool { pending.remove(number) != nil }
}
