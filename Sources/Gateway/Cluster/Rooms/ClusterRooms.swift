internal import Backend
internal import Cluster
internal import Engine
internal import Identity
internal import Logging
internal import Sockets
internal import Synchronization
internal import Wire

/// The rooms of a gateway in a cluster: connects its shards with the decisions of `ClusterNode`.
///
/// Shards ask where rooms are and report changes; decisions that concern a room's shard are posted to its mailbox.
final class ClusterRooms: Sendable {
    /// Where a room is, for a connection that wants it.
    enum Place: Sendable {
        case here
        case elsewhere(NodeBeat)
        /// The broker does not answer, or the home's address is unknown.
        case unavailable
        /// The store cannot be reached, so that no room is opened.
        case storeUnavailable
        /// This node takes no new rooms.
        case draining
    }

    struct Home {
        /// The epoch with which the term began; identifies the term.
        let claimed: RoomEpoch
        /// The current epoch, which may have been raised since.
        var epoch: RoomEpoch
        /// The record's snapshot, from which the room is being restored; empty once it is ready.
        var snapshot: [UInt8]
        /// Its session is known and a shard has restored its snapshot, so that joins may follow.
        var isReady = false
        /// The store has not answered in time, so requests no longer wait for the room.
        var isOverdue = false
        let since = Instant.now
        var waiting: [@Sendable (Place) -> Void] = []

        init(_ epoch: RoomEpoch, _ snapshot: [UInt8]) {
            (claimed, self.epoch, self.snapshot) = (epoch, epoch, snapshot)
        }
    }

    struct State {
        var node: ClusterNode?
        var broker: NATSBroker?
        var homes: [String: Home] = [:]
        var others: [NodeIdentity: NodeBeat] = [:]
        /// Approximate time of the last beat of each node that has ended, in milliseconds since 1970.
        var lastBeats: [NodeIdentity: Int64] = [:]
        /// In milliseconds. After that, nobody resumes in the rooms of such a node.
        static let lastBeatsKeptMax: Int64 = 60_000
        var isNameTaken = false
        /// The load that was announced last.
        var load = NodeLoad()
        /// Called with each node that ends.
        var onEndedNode: (@Sendable (NodeBeat) -> Void)?
        /// The reason why there is no connection, as last logged.
        var reported: NATSError?
    }

    let identity: NodeIdentity
    private let nats: NATSSettings
    let forget: @Sendable (_ room: String) -> Void
    let apply: @Sendable (NodeNotice) async -> Void
    let beat: NodeBeat
    let directory: RoomDirectory
    let mailboxes: [Mailbox<ShardMessage>]
    private let metrics: MetricsBoard
    let prepare: @Sendable (_ room: String, RoomInfo?) async -> Bool
    let handOver: @Sendable (_ room: String) async -> Void
    let key: SealingKey
    private let seal: BeatSeal
    let state = Mutex(State())
    let counters = ClusterCounters()
    let log = Logger(label: "patchbay.cluster")

    init(
        _ settings: ClusterSettings, build: String, directory: RoomDirectory, mailboxes: [Mailbox<ShardMessage>], metrics: MetricsBoard
    ) {
        identity = settings.node.identity
        beat = NodeBeat(node: identity, number: 0, build: build, url: settings.url, address: settings.address.description)
        key = settings.key.derived(for: "rooms' snapshots")
        seal = BeatSeal(sealedWith: settings.key.derived(for: "beats"))
        var nats = settings.nats
        nats.subjects = [ClusterNode.beatSubject]
        (self.nats, self.directory, self.mailboxes, self.metrics) = (nats, directory, mailboxes, metrics)
        (prepare, handOver, forget, apply) = (settings.prepare, settings.handOver, settings.forget, settings.apply)
    }

    // MARK: Running

    /// Connects to the broker, repeatedly if it is away at first, and runs until the task is cancelled.
    func run() async {
        let (events, continuation) = AsyncStream.makeStream(of: BrokerEvent.self)
        guard let broker = await connect({ continuation.yield($0) }) else { return }
        let node = ClusterNode(beat, broker: broker, rooms: self, seal: seal)
        state.withLock { ($0.node, $0.broker) = (node, broker) }
        async let forwarding: Void = { for await event in events { handle(event, of: node) } }()
        async let _: Void = giveUpUnopened()
        async let _: Void = announceLoad(of: node)
        await node.run()
        continuation.finish()
        await forwarding
        await broker.close()
    }

    private func connect(_ handler: @escaping @Sendable (BrokerEvent) -> Void) async -> NATSBroker? {
        while !Task.isCancelled {
            do throws(NATSError) {
                return try await NATSBroker.start(nats, onFailure: { [self] in report($0) }, onEvent: handler)
            } catch {
                report(error)
                try? await Task.sleep(for: .seconds(1))
            }
        }
        return nil
    }

    /// Logs why an attempt to connect has failed, unless that is known already.
    private func report(_ error: NATSError) {
        let wasReported = state.withLock { state in
            defer { state.reported = error }
            return state.reported == error
        }
        if wasReported { return }
        log.error("no connection to the cluster; open rooms go on, new ones are refused", metadata: ["reason": "\(error)"])
    }

    private func handle(_ event: BrokerEvent, of node: ClusterNode) {
        switch event {
        case .connected:
            counters.isConnected.store(true, ordering: .relaxed)
            state.withLock { $0.reported = nil }
            // While the connection was lost, other nodes may have sent no notices to this one.
            Task { [apply] in await apply(.assistants) }
            log.notice("connected to the cluster", metadata: ["node": "\(identity)"])
        case .disconnected:
            counters.isConnected.store(false, ordering: .relaxed)
            log.error("the connection to the cluster is lost; open rooms go on, new ones are refused")
        case .received: break
        }
        node.handle(event)
    }

    /// Announces this node's load, as its shards have published it.
    private func announceLoad(of node: ClusterNode) async {
        repeat {
            let shards = metrics.snapshot
            let load = NodeLoad(
                busiest: shards.map(\.busyRatio).max() ?? 0, rooms: shards.map(\.rooms).reduce(0, +),
                participants: shards.map(\.participants).reduce(0, +))
            state.withLock { $0.load = load }
            node.post(.measured(load))
        } while (try? await Task.sleep(for: BusyRatio.interval)) != nil
    }

    /// Gives up rooms that were claimed and never opened.
    private func giveUpUnopened() async {
        while (try? await Task.sleep(for: Self.unopenedMax / 4)) != nil {
            let old = state.withLock { state in
                state.homes.filter { $0.value.isReady && Instant.now - $0.value.since > Self.unopenedMax }.keys
            }
            for room in old where directory.home(of: room) == nil && room != RoomHomes.coordinatorRoom { closed(room) }
        }
    }

    private static let unopenedMax = Duration.seconds(120)

    /// This node takes no new rooms, and hands over those it has.
    ///
    /// - Parameter span: the moves are spread over at most half of it, so that few clients reconnect at the same time; zero: all at once.
    func drain(within span: Duration) {
        let (node, rooms) = state.withLock { ($0.node, Array($0.homes.keys)) }
        node?.post(.drain)
        let steps = max(1, min(Int(span / Self.moveInterval) / 2, rooms.count))
        let perStep = (rooms.count + steps - 1) / steps
        Task {
            try? await Task.sleep(for: min(ClusterLimits.drainNotice, span / 8))
            for start in stride(from: 0, to: rooms.count, by: max(1, perStep)) {
                for room in rooms[start..<min(start + perStep, rooms.count)] { node?.post(.moved(room: room)) }
                try? await Task.sleep(for: Self.moveInterval)
            }
        }
    }

    /// Between the moves of a drain.
    private static let moveInterval = Duration.milliseconds(200)

    var sample: ClusterSample {
        ClusterSample(
            isConnected: counters.isConnected.load(ordering: .relaxed), nodes: counters.nodes.load(ordering: .relaxed),
            rooms: state.withLock { $0.homes.keys.count { $0 != RoomHomes.coordinatorRoom } },
            isCoordinator: isHome(of: RoomHomes.coordinatorRoom), messagesLost: counters.messagesLost.load(ordering: .relaxed),
            transitions: counters.snapshot)
    }
}

extension BeatSeal {
    fileprivate init(sealedWith key: SealingKey) {
        self.init(
            close: { SealedBox.seal($0, with: key, at: ClusterNode.beatSubject) },
            open: { SealedBox.open($0, with: key, at: ClusterNode.beatSubject) })
    }
}
