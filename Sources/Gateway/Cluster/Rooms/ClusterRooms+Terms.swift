internal import Backend
internal import Cluster
internal import Engine
internal import Identity
internal import Logging
internal import Sockets
internal import Synchronization
internal import Wire

/// The beginnings and ends of this node's terms as a room's home.
extension ClusterRooms: ClusterNode.Rooms {
    func began(_ room: String, _ epoch: RoomEpoch, snapshot: [UInt8], former: NodeIdentity?) {
        state.withLock { $0.homes[room] = Home(epoch, snapshot) }
        counters.count(former == nil ? .claimed : .takenOver)
        Task { [self] in
            try? await Task.sleep(for: Self.preparationMax)
            answerWaiting(room, epoch)
        }
        Task { [self] in
            let restored = restored(room, epoch, snapshot, former)
            let isPrepared = await prepare(room, restored?.image.room)
            guard isPrepared || restored != nil else { return giveUp(room, epoch) }
            // The term may have ended meanwhile, and another one may have begun.
            guard state.withLock({ $0.homes[room]?.claimed == epoch }) else { return }
            guard let restored else { return becameReady(room) }
            let shard = directory.claimVacant(room, for: Int(truncatingIfNeeded: epoch.claim % UInt64(mailboxes.count)))
            mailboxes[shard].send(.cluster(.restore(restored, done: { [weak self] in self?.becameReady(room) })))
        }
    }

    /// Joins may follow: the room's shard has restored it, or nothing is to be restored.
    private func becameReady(_ room: String) {
        let waiting = state.withLock { state in
            let waiting = state.homes[room]?.waiting ?? []
            state.homes[room]?.waiting = []
            state.homes[room]?.snapshot = []
            state.homes[room]?.isReady = true
            return waiting
        }
        for completion in waiting { completion(.here) }
    }

    /// Requests for a room that waits for the store fail after this time.
    private static let preparationMax = Duration.seconds(3)

    private func answerWaiting(_ room: String, _ claimed: RoomEpoch) {
        let waiting = state.withLock { state -> [@Sendable (Place) -> Void] in
            guard let home = state.homes[room], home.claimed == claimed, !home.isReady else { return [] }
            state.homes[room]?.isOverdue = true
            state.homes[room]?.waiting = []
            return home.waiting
        }
        for completion in waiting { completion(.storeUnavailable) }
    }

    /// Releases a new room that cannot be opened now. The next request for it claims it again.
    private func giveUp(_ room: String, _ epoch: RoomEpoch) {
        let waiting = state.withLock { state -> [@Sendable (Place) -> Void]? in
            guard state.homes[room]?.claimed == epoch else { return nil }
            return state.homes.removeValue(forKey: room)?.waiting
        }
        guard let waiting else { return }
        for completion in waiting { completion(.storeUnavailable) }
        closed(room)
    }

    private func restored(_ room: String, _ epoch: RoomEpoch, _ snapshot: [UInt8], _ former: NodeIdentity?) -> RestoredRoom? {
        guard !snapshot.isEmpty else { return nil }
        guard let bytes = SealedBox.open(snapshot, with: key, at: room), let image = RoomImage(bytes) else {
            counters.count(.snapshotUnreadable)
            log.error(
                "a room's snapshot cannot be read, so the room begins anew; all nodes need the same master key",
                metadata: ["room": "\(room)", "former": "\(former.map(String.init(describing:)) ?? "-")"])
            return nil
        }
        let lastBeat = former.flatMap { former in state.withLock { $0.lastBeats[former] } }
        let unseen = lastBeat.flatMap { at in image.takenAt.map { at.subtractingReportingOverflow($0).partialValue } } ?? 0
        return RestoredRoom(
            name: room, epoch: epoch, image: image, reason: former == nil ? .moved : .nodeLost, unseen: .milliseconds(max(unseen, 0)))
    }

    func raised(_ room: String, _ epoch: RoomEpoch) { state.withLock { $0.homes[room]?.epoch = epoch } }

    func ended(_ room: String, _ reason: ClusterStateMachine.EndReason) {
        let waiting = state.withLock { $0.homes.removeValue(forKey: room)?.waiting ?? [] }
        for completion in waiting { completion(.unavailable) }
        guard reason != .closed else { return }
        forget(room)
        if room == RoomHomes.coordinatorRoom { for mailbox in mailboxes { mailbox.send(.cluster(.closeChannels)) } }
        counters.count(reason == .moved ? .moved : .lost)
        if let shard = directory.home(of: room) { mailboxes[shard].send(.cluster(.endTerm(room: room))) }
    }

    func collect(_ room: String, isLast: Bool, completion: @escaping @Sendable ([UInt8]) -> Void) {
        // While the room waits for the store, its record can still be written, and the room can still move.
        if let snapshot = state.withLock({ $0.homes[room].flatMap { $0.isReady ? nil : $0.snapshot } }) { return completion(snapshot) }
        guard isLast else { return collectReady(room, isLast: false, completion: completion) }
        Task {
            await handOver(room)
            collectReady(room, isLast: true, completion: completion)
        }
    }

    private func collectReady(_ room: String, isLast: Bool, completion: @escaping @Sendable ([UInt8]) -> Void) {
        guard let shard = directory.home(of: room) else { return completion([]) }
        let sealedMax = state.withLock { $0.broker }?.snapshotBytesMax ?? .max
        let reply = ImageReply { [key] image in
            guard let image else { return completion([]) }
            // Not on the shard's thread: encoding takes as long as ten frames.
            Task { completion(SealedBox.seal(image.bytes(max: sealedMax - SealedBox.overhead), with: key, at: room)) }
        }
        mailboxes[shard].send(.cluster(.takeImage(room: room, isLast: isLast, reply)))
    }

    func resumed(_ room: String) {
        if let shard = directory.home(of: room) { mailboxes[shard].send(.cluster(.goOn(room: room))) }
    }

    func refused(_ room: String, reason: String) {
        counters.count(.snapshotRefused)
        log.error(
            "NATS refuses a room's snapshot; the room goes on, but its changes do not outlive this node",
            metadata: ["room": "\(room)", "reason": "\(reason)"])
    }

    func nameTaken() {
        let wasKnown = state.withLock { state in
            defer { state.isNameTaken = true }
            return state.isNameTaken
        }
        guard !wasKnown else { return }
        log.critical("another node of this cluster has the same name; set `node` to another one", metadata: ["node": "\(identity.name)"])
    }

    func nodesChanged(_ running: [NodeBeat]) {
        let (ended, draining, onEnded) = state.withLock { state in
            let before = state.others
            let lastBeat = WallClock.milliseconds - ClusterLimits.nodeSilence.inMilliseconds
            state.lastBeats = state.lastBeats.filter { lastBeat - $0.value < State.lastBeatsKeptMax }
            state.others = Dictionary(uniqueKeysWithValues: running.map { ($0.node, $0) })
            let draining = running.filter { $0.isDraining && before[$0.node]?.isDraining != true }
            let ended = before.values.filter { state.others[$0.node] == nil }
            for beat in ended { state.lastBeats[beat.node] = lastBeat }
            return (ended, draining, state.onEndedNode)
        }
        counters.nodes.store(running.count + 1, ordering: .relaxed)
        for beat in draining {
            for mailbox in mailboxes { mailbox.send(.cluster(.nodeDrains(beat.node.description))) }
        }
        for beat in ended {
            log.warning("a node has ended", metadata: ["ended": "\(beat.node)"])
            for mailbox in mailboxes { mailbox.send(.cluster(.nodeEnded(beat.node.description))) }
            onEnded?(beat)
        }
    }
}

/// A room that another node has left behind, or handed over.
struct RestoredRoom: Sendable {
    let name: String
    let epoch: RoomEpoch
    let image: RoomImage
    let reason: Room.RestoreReason
    /// The time from the image to the last sign of life of the room's earlier node; zero if unknown. Clocks of two nodes may differ.
    let unseen: Duration
}

/// Receives a room's image once; nil if the shard does not have the room, or has ended.
final class ImageReply: Sendable {
    private let completion: Mutex<(@Sendable (RoomImage?) -> Void)?>

    init(_ completion: @escaping @Sendable (RoomImage?) -> Void) { self.completion = Mutex(completion) }

    deinit { completion.withLock { $0 }?(nil) }

    func callAsFunction(_ image: RoomImage?) {
        let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        completion?(image)
    }
}

/// A message of the cluster to the shard of one room, or to all shards.
enum ClusterOrder: Sendable {
    /// The closure is called once the room is restored; only then may anybody join it.
    case restore(RestoredRoom, done: @Sendable () -> Void)
    /// The last image is followed by `endTerm` or `goOn`; the room is halted until then.
    case takeImage(room: String, isLast: Bool, ImageReply)
    case goOn(room: String)
    /// This node is not the room's home any more.
    case endTerm(room: String)
    case nodeEnded(String)
    /// The node ends soon, and with it the connections that it forwards.
    case nodeDrains(String)
    /// Another node than before is the coordinator.
    case announceRooms
    /// This node is not the coordinator any more.
    case closeChannels
    case located(upgrade: Int, ClusterRooms.Place)
    case checked(upgrade: Int, JoinChecks.Outcome)
}
