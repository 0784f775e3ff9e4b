internal import DequeModule
internal import Engine
internal import Wire

/// What the rooms have decided: who hears which track. Panels, remoteTracks and trunks must carry it out, whatever is on its way between
/// shards.
struct Truth {
    struct Key: Hashable {
        let publisher: ParticipantHandle
        let alias: TrackAlias
    }

    private struct Subscriber {
        let handle: ParticipantHandle
        let since: Instant
        var until: Instant?
    }

    private struct Route {
        let home: Int
        var gate = Room.Gate.open
        var gateChangedAt: Instant
        /// Since the track began.
        var wasEverClosed = false
        var endedAt: Instant?
        var epoch: UInt8 = 0
        var clearedAt = World.start
        var movedAt: Instant?
        var subscribers: [Subscriber] = []
    }

    private struct Delivery: Hashable {
        let frame: Int
        let subscriber: ParticipantHandle
    }

    private struct Expectation {
        let delivery: Delivery
        let key: Key
        let since: Instant
        /// When it was admitted.
        let at: Instant
    }

    private var routes: [Key: Route] = [:]
    /// What goes on under another handle of its publisher.
    private var moved: [Key: Key] = [:]
    private var expected: Deque<Expectation> = []
    private var delivered: Set<Delivery> = []
    private var lost: Set<Delivery> = []

    mutating func note(_ change: Room.PatchChange, home: Int, at now: Instant) {
        switch change {
        case .publish(let track, let publisher):
            routes[Key(publisher: publisher, alias: track.alias)] = Route(
                home: home, gate: track.muted ? .muted : .open, gateChangedAt: now, epoch: track.epoch)
        case .move(let track, let old, let new, _, _):
            let (oldKey, newKey) = (Key(publisher: old, alias: track.alias), Key(publisher: new, alias: track.alias))
            routes[newKey] = routes.removeValue(forKey: oldKey)
            routes[newKey]?.movedAt = now
            moved[oldKey] = newKey
        case .unpublish(let alias, let publisher): routes[Key(publisher: publisher, alias: alias)]?.endedAt = now
        case .gate(let alias, let publisher, let gate):
            let key = Key(publisher: publisher, alias: alias)
            routes[key]?.gate = gate
            routes[key]?.gateChangedAt = now
            routes[key]?.wasEverClosed = true
        case .clear(let alias, let publisher, let epoch):
            let key = Key(publisher: publisher, alias: alias)
            routes[key]?.epoch = epoch
            routes[key]?.clearedAt = now
        case .retain: break
        case .subscribe(let subscriber, let alias, let publisher, _):
            routes[Key(publisher: publisher, alias: alias)]?.subscribers.append(Subscriber(handle: subscriber, since: now))
        case .unsubscribe(let subscriber, let alias, let publisher):
            let key = Key(publisher: publisher, alias: alias)
            guard let place = routes[key]?.subscribers.firstIndex(where: { $0.handle == subscriber && $0.until == nil }) else { return }
            routes[key]?.subscribers[place].until = now
        }
    }

    private func route(_ key: Key) -> Route? {
        var key = key
        while let next = moved[key] { key = next }
        return routes[key]
    }

    /// Whether a track goes on under another handle, under which a shard has it without being the publisher's, which is given the queue.
    func hasMoved(_ alias: TrackAlias, of publisher: ParticipantHandle, toOneIn aheads: AheadTracks) -> Bool {
        guard let key = moved[Key(publisher: publisher, alias: alias)], let place = aheads.index(of: alias, by: key.publisher) else {
            return false
        }
        return aheads.tracks[place].sid == nil
    }

    /// A frame has passed its publisher's shard: may it, and who is to get it?
    mutating func admitted(_ frame: Int, from publisher: ParticipantHandle, alias: TrackAlias, in world: World) {
        let key = Key(publisher: publisher, alias: alias)
        guard let route = route(key) else { return world.fail("frame \(frame) passes on a track that no room knows") }
        let delay = route.home == Int(publisher.shard) ? Duration.zero : world.swarm.newsDelayMax
        if route.gate != .open {
            world.expect(
                world.now - route.gateChangedAt < delay, "frame \(frame) passes though its track is \(route.gate)")
        }
        if let endedAt = route.endedAt { world.expect(world.now - endedAt < delay, "frame \(frame) passes though its track has ended") }
        // Between two slots of its publisher a track may be known here and not yet there.
        if let movedAt = route.movedAt, world.now - movedAt <= world.swarm.newsDelayMax { return }
        for subscriber in route.subscribers where subscriber.until == nil {
            let isOnOneShard = route.home == Int(publisher.shard) && subscriber.handle.shard == publisher.shard
            guard isOnOneShard || world.now - subscriber.since > world.swarm.newsDelayMax else { continue }
            // A gate that was closed lately may still be closed elsewhere; and what the room had decided before the frame passed, another
            // shard may know sooner than the publisher's.
            guard isOnOneShard || world.now - route.gateChangedAt > world.swarm.newsDelayMax && route.endedAt == nil else { continue }
            guard isOnOneShard || !world.ledger.frames[frame].isDoubtful else { continue }
            expected.append(
                Expectation(delivery: Delivery(frame: frame, subscriber: subscriber.handle), key: key, since: subscriber.since, at: world.now))
        }
    }

    /// The same for a frame that is kept: it is of the track's epoch.
    func admittedAhead(_ frame: Int, _ said: Ledger.Frame, from publisher: ParticipantHandle, in world: World) {
        guard let route = route(Key(publisher: publisher, alias: said.header.alias)) else {
            return world.fail("frame \(frame) passes on a track that no room knows")
        }
        let delay = route.home == Int(publisher.shard) ? Duration.zero : world.swarm.newsDelayMax
        world.expect(
            route.gate == .open || world.now - route.gateChangedAt < delay, "frame \(frame) passes though its track is \(route.gate)")
        world.expect(
            route.epoch == said.header.epoch || world.now - route.clearedAt < delay,
            "frame \(frame) of epoch \(said.header.epoch) passes in epoch \(route.epoch)")
    }

    /// Nothing of what was cleared leaves any more, on whatever shard.
    func release(_ frame: Int, _ said: Ledger.Frame, in world: World) {
        guard let publisher = said.stay.handle, let route = route(Key(publisher: publisher, alias: said.header.alias)) else { return }
        world.expect(
            route.epoch == said.header.epoch || world.now - route.clearedAt < world.swarm.newsDelayMax,
            "frame \(frame) of epoch \(said.header.epoch) is let out in epoch \(route.epoch)")
        world.expect(
            route.gate == .open || world.now - route.gateChangedAt < world.swarm.newsDelayMax,
            "frame \(frame) is let out though its track is \(route.gate)")
    }

    /// It is of what plays now: nothing has ended, cleared or paused its track.
    func plays(_ said: Ledger.Frame, in world: World) -> Bool {
        guard let publisher = said.stay.handle, let route = route(Key(publisher: publisher, alias: said.header.alias)) else { return false }
        guard route.gate == .open, route.endedAt == nil, route.epoch == said.header.epoch else { return false }
        return !wasPaused(said, lately: world)
    }

    /// Its gate was closed not long ago, so that its clock has begun anew.
    func wasPaused(_ said: Ledger.Frame, lately world: World) -> Bool {
        guard let publisher = said.stay.handle, let route = route(Key(publisher: publisher, alias: said.header.alias)) else { return true }
        return route.wasEverClosed && world.now - route.gateChangedAt < .seconds(5)
    }

    /// A frame is given to a subscriber, to be written or queued.
    mutating func handed(_ frame: Int, of key: Key, to subscriber: ParticipantHandle, in world: World) {
        guard let route = route(key) else { return world.fail("frame \(frame) is handed out on a track that no room knows") }
        let isOnOneShard = route.home == Int(key.publisher.shard) && subscriber.shard == key.publisher.shard
        let isListening = route.subscribers.contains { known in
            known.handle == subscriber
                && (known.until == nil || !isOnOneShard && world.now - (known.until ?? world.now) < world.swarm.newsDelayMax)
        }
        world.expect(isListening, "frame \(frame) is handed to somebody who does not listen")
        // Who listens anew to what is kept hears again what it had not played.
        if world.ledger.frames[frame].mode == .ahead { return }
        world.expect(delivered.insert(Delivery(frame: frame, subscriber: subscriber)).inserted, "frame \(frame) is handed out twice")
    }

    /// It did not fit into a trunk, and was counted.
    mutating func lostInTrunk(_ frame: Int, to shard: Int) {
        for expectation in expected where expectation.delivery.frame == frame && Int(expectation.delivery.subscriber.shard) == shard {
            lost.insert(expectation.delivery)
        }
    }

    /// Looks whether what passed some time ago has come to all who were to get it.
    mutating func review(in world: World) {
        while let first = expected.first, world.now - first.at > world.swarm.newsDelayMax + .milliseconds(50) {
            expected.removeFirst()
            if delivered.remove(first.delivery) != nil || lost.remove(first.delivery) != nil { continue }
            // The room decided while the frame was on its way from the publisher's connection to the trunk.
            guard route(first.key)?.endedAt != first.at, route(first.key)?.gateChangedAt != first.at else { continue }
            let subscriber = first.delivery.subscriber
            let stillListens = route(first.key)?.subscribers.contains {
                $0.handle == subscriber && $0.since == first.since && $0.until == nil
            }
            guard route(first.key)?.movedAt ?? World.start < first.at else { continue }
            guard stillListens == true, let member = world.shards[Int(subscriber.shard)].member(at: subscriber), member.pendingClose == nil,
                member.line.phase == .open
            else { continue }
            world.fail("frame \(first.delivery.frame) was never handed to \(member.line.stay), who listens")
        }
    }
}
