internal import DequeModule
internal import Engine
internal import Wire

/// Reference model of the rooms' routing decisions. Patch panels, remote tracks and trunks must follow it, whatever is in flight between
/// shards.
struct RoutingModel {
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
        /// Since the track was published.
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
        /// When the frame was admitted.
        let at: Instant
    }

    private var routes: [Key: Route] = [:]
    /// Tracks that moved to another handle of their publisher.
    private var moved: [Key: Key] = [:]
    private var expected: Deque<Expectation> = []
    private var delivered: Set<Delivery> = []
    private var lost: Set<Delivery> = []

    mutating func apply(_ change: Room.PatchChange, home: Int, at now: Instant) {
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
        case .retain, .keep: break
        case .subscribe(let subscriber, let alias, let publisher, _):
            routes[Key(publisher: publisher, alias: alias)]?.subscribers.append(Subscriber(handle: subscriber, since: now))
        case .unsubscribe(let subscriber, let alias, let publisher):
            let key = Key(publisher: publisher, alias: alias)
            guard let index = routes[key]?.subscribers.firstIndex(where: { $0.handle == subscriber && $0.until == nil }) else { return }
            routes[key]?.subscribers[index].until = now
        }
    }

    private func route(_ key: Key) -> Route? {
        var key = key
        while let next = moved[key] { key = next }
        return routes[key]
    }

    /// Whether a track moved to another handle and this shard, not the publisher's, has its queue under that handle.
    func hasMoved(_ alias: TrackAlias, of publisher: ParticipantHandle, toOneIn aheads: AheadTracks) -> Bool {
        guard let key = moved[Key(publisher: publisher, alias: alias)], let index = aheads.index(of: alias, by: key.publisher) else {
            return false
        }
        return aheads.tracks[index].sid == nil
    }

    /// Checks a frame that the publisher's shard admitted, and records who must receive it.
    mutating func admitted(_ frame: Int, from publisher: ParticipantHandle, alias: TrackAlias, in world: World) {
        let key = Key(publisher: publisher, alias: alias)
        guard let route = route(key) else { return world.fail("frame \(frame) is admitted on an unknown track") }
        let delay = route.home == Int(publisher.shard) ? Duration.zero : world.swarm.propagationDelayMax
        if route.gate != .open {
            world.expect(
                world.now - route.gateChangedAt < delay, "frame \(frame) is admitted though its track is \(route.gate)")
        }
        if let endedAt = route.endedAt {
            world.expect(world.now - endedAt < delay, "frame \(frame) is admitted though its track has ended")
        }
        // While a track moves between slots, some shards may not know its new slot yet.
        if let movedAt = route.movedAt, world.now - movedAt <= world.swarm.propagationDelayMax { return }
        for subscriber in route.subscribers where subscriber.until == nil {
            let isOnOneShard = route.home == Int(publisher.shard) && subscriber.handle.shard == publisher.shard
            guard isOnOneShard || world.now - subscriber.since > world.swarm.propagationDelayMax else { continue }
            // Other shards may still have a recently closed gate, or learn of a decision sooner than the publisher's shard.
            guard isOnOneShard || world.now - route.gateChangedAt > world.swarm.propagationDelayMax && route.endedAt == nil else {
                continue
            }
            guard isOnOneShard || !world.ledger.frames[frame].isDoubtful else { continue }
            expected.append(
                Expectation(
                    delivery: Delivery(frame: frame, subscriber: subscriber.handle), key: key, since: subscriber.since, at: world.now))
        }
    }

    /// The same for a frame of an `ahead` track, which is queued.
    func admittedAhead(_ frame: Int, _ entry: Ledger.Frame, from publisher: ParticipantHandle, in world: World) {
        guard let route = route(Key(publisher: publisher, alias: entry.header.alias)) else {
            return world.fail("frame \(frame) is admitted on an unknown track")
        }
        let delay = route.home == Int(publisher.shard) ? Duration.zero : world.swarm.propagationDelayMax
        world.expect(
            route.gate == .open || world.now - route.gateChangedAt < delay, "frame \(frame) is admitted though its track is \(route.gate)")
        world.expect(
            route.epoch == entry.header.epoch || world.now - route.clearedAt < delay,
            "frame \(frame) of epoch \(entry.header.epoch) is admitted in epoch \(route.epoch)")
    }

    /// Checks that no shard releases cleared or muted frames.
    func release(_ frame: Int, _ entry: Ledger.Frame, in world: World) {
        guard let publisher = entry.session.handle, let route = route(Key(publisher: publisher, alias: entry.header.alias)) else { return }
        world.expect(
            route.epoch == entry.header.epoch || world.now - route.clearedAt < world.swarm.propagationDelayMax,
            "frame \(frame) of epoch \(entry.header.epoch) is released in epoch \(route.epoch)")
        world.expect(
            route.gate == .open || world.now - route.gateChangedAt < world.swarm.propagationDelayMax,
            "frame \(frame) is released though its track is \(route.gate)")
    }

    /// Whether the frame is due to play: its track was not ended, cleared or paused.
    func plays(_ entry: Ledger.Frame, in world: World) -> Bool {
        guard let publisher = entry.session.handle, let route = route(Key(publisher: publisher, alias: entry.header.alias)) else {
            return false
        }
        guard route.gate == .open, route.endedAt == nil, route.epoch == entry.header.epoch else { return false }
        return !wasPaused(entry, lately: world)
    }

    /// Whether its gate was closed recently, so that its clock has restarted.
    func wasPaused(_ entry: Ledger.Frame, lately world: World) -> Bool {
        guard let publisher = entry.session.handle, let route = route(Key(publisher: publisher, alias: entry.header.alias)) else {
            return true
        }
        return route.wasEverClosed && world.now - route.gateChangedAt < .seconds(5)
    }

    /// Checks a frame that is written to or queued for a subscriber.
    mutating func handed(_ frame: Int, of key: Key, to subscriber: ParticipantHandle, in world: World) {
        guard let route = route(key) else { return world.fail("frame \(frame) is forwarded on an unknown track") }
        let isOnOneShard = route.home == Int(key.publisher.shard) && subscriber.shard == key.publisher.shard
        let isListening = route.subscribers.contains { known in
            known.handle == subscriber
                && (known.until == nil || !isOnOneShard && world.now - (known.until ?? world.now) < world.swarm.propagationDelayMax)
        }
        world.expect(isListening, "frame \(frame) is forwarded to a participant that is not subscribed")
        // A resubscribed participant receives unplayed frames again.
        if world.ledger.frames[frame].mode == .ahead { return }
        world.expect(delivered.insert(Delivery(frame: frame, subscriber: subscriber)).inserted, "frame \(frame) is forwarded twice")
    }

    /// A frame dropped because a trunk was full.
    mutating func lostInTrunk(_ frame: Int, to shard: Int) {
        for expectation in expected where expectation.delivery.frame == frame && Int(expectation.delivery.subscriber.shard) == shard {
            lost.insert(expectation.delivery)
        }
    }

    /// Checks that frames admitted a while ago were forwarded to everyone who must receive them.
    mutating func review(in world: World) {
        while let first = expected.first, world.now - first.at > world.swarm.propagationDelayMax + .milliseconds(50) {
            expected.removeFirst()
            if delivered.remove(first.delivery) != nil || lost.remove(first.delivery) != nil { continue }
            // The room decided while the frame was on its way to the trunk.
            guard route(first.key)?.endedAt != first.at, route(first.key)?.gateChangedAt != first.at else { continue }
            let subscriber = first.delivery.subscriber
            let stillListens = route(first.key)?.subscribers.contains {
                $0.handle == subscriber && $0.since == first.since && $0.until == nil
            }
            guard route(first.key)?.movedAt ?? World.start < first.at else { continue }
            guard stillListens == true, let member = world.shards[Int(subscriber.shard)].member(at: subscriber), member.pendingClose == nil,
                member.connection.phase == .open
            else { continue }
            world.fail("frame \(first.delivery.frame) was never forwarded to \(member.connection.session), which is subscribed")
        }
    }
}
