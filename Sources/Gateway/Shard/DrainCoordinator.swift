internal import Engine
internal import Logging
internal import Sockets
internal import Wire

/// Graceful shutdown: admits no connections, notifies all clients, and stops all shards together when they are empty or the deadline has
/// passed. In a cluster, rooms move to other nodes instead, and connections to other nodes end after them.
final class DrainCoordinator {
    private let context: ShardContext
    private let slots: SlotTable<ParticipantConnection>
    private let rooms: RoomHost
    private let channels: Channels
    private let http: HTTPFrontEnd
    private var phase = Phase.serving
    /// Shards that have reported to be empty.
    private var emptyShards: Set<Int> = []
    private var tunnelEnds = TunnelEnds()

    private enum Phase {
        case serving
        case draining(until: Instant)
        /// All connections are being closed; the loop stops at this time at the latest.
        case closing(until: Instant)
    }

    /// In a cluster, connections that are forwarded through this node end in steps, as its rooms move.
    private struct TunnelEnds {
        static var interval: Duration { .milliseconds(200) }
        /// Each step ends this fraction of the tunnels that are left, and one more.
        static var steps: Int { 100 }
        /// Participants are asked to return by the homes of their rooms before that (`ForwardedParticipants`).
        static var patience: Duration { .seconds(10) }
        var nextAt: Instant?
    }

    /// The time for close handshakes.
    private static var closingTime: Duration { .seconds(2) }

    init(
        _ context: ShardContext, _ slots: SlotTable<ParticipantConnection>, _ rooms: RoomHost, _ channels: Channels, _ http: HTTPFrontEnd
    ) {
        self.context = context
        self.slots = slots
        self.rooms = rooms
        self.channels = channels
        self.http = http
    }

    var isDraining: Bool { if case .serving = phase { false } else { true } }

    /// Starts a drain. A second call closes all connections at once.
    func start(until span: Duration, wallClock: Int64) {
        guard !isDraining else { return closeEverybody() }
        phase = .draining(until: context.now + span)
        tunnelEnds.nextAt = context.now + min(TunnelEnds.patience, span / 2)
        context.log.info("draining", metadata: ["participants": "\(context.counters.participants)"])
        // In a cluster the rooms move to other nodes, and nobody has to leave.
        if context.gateway.cluster == nil { rooms.applyToAll(.draining(deadline: wallClock)) }
        finishIfEmpty()
        context.wake(within: Housekeeping.busyInterval)
    }

    func check() {
        switch phase {
        case .serving: break
        case .draining(let deadline): if context.now >= deadline { closeEverybody() } else { finishIfEmpty() }
        case .closing(let deadline): if context.now >= deadline { context.loop.stop() } else { finishIfEmpty() }
        }
    }

    /// Reports to all shards once this one has no participants, channels or requests any more, and none on other shards in its rooms.
    /// Shards stop together, so that HTTP requests are answered until the last call has ended.
    func finishIfEmpty() {
        // Rooms without anybody connected must move as well.
        guard isDraining, context.counters.participants == 0, !rooms.hasRemoteParticipants, http.isIdle, channels.isEmpty,
            context.gateway.cluster?.hasRooms != true || isClosing, isClosing || !endTunnels(), !emptyShards.contains(context.index)
        else { return }
        for shard in context.shardIndices where shard != context.index { context.post(.emptied(shard: context.index), to: shard) }
        noteEmptied(context.index)
    }

    /// Ends some of the connections that are forwarded through this node.
    ///
    /// - Returns: whether others are left.
    private func endTunnels() -> Bool {
        guard context.loop.tunnelCount > 0 else { return false }
        if tunnelEnds.nextAt.map({ $0 <= context.now }) ?? true {
            context.loop.endTunnels(atMost: 1 + context.loop.tunnelCount / TunnelEnds.steps)
            tunnelEnds.nextAt = context.now + TunnelEnds.interval
        }
        context.wake(within: TunnelEnds.interval)
        return context.loop.tunnelCount > 0
    }

    func noteEmptied(_ shard: Int) {
        emptyShards.insert(shard)
        if isDraining, emptyShards.count == context.shardIndices.count { context.loop.stop() }
    }

    private var isClosing: Bool { if case .closing = phase { true } else { false } }

    private func closeEverybody() {
        if case .closing = phase { return }
        phase = .closing(until: context.now + Self.closingTime)
        for slot in 0..<slots.count { slots[slot]?.close(.serverShutdown) }
        channels.closeAll(.serverShutdown)
        finishIfEmpty()
        context.wake(within: Housekeeping.busyInterval)
    }
}
