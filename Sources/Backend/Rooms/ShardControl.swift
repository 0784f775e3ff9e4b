package import Engine
package import HTTPServer
package import Wire

/// A query or command sent to a shard from another thread.
package enum RoomQuery: Sendable {
    /// All rooms of the shard.
    case rooms
    /// Snapshots of all rooms of the shard.
    case snapshots
    /// Publish the shard's counters.
    case counters
    /// The worst connections of the shard's rooms.
    case connections(atMost: Int)
    case room(String)
    /// Open the room without participants, unless it is open.
    case open(String, RoomOpening)
    case log(String)
    case command(Room.AdminCommand, room: String)
    case callProcedure(ProcedureCall, room: String)
}

package enum RoomQueryResult: Sendable {
    case rooms([RoomListEntry])
    case snapshots([Room.Snapshot])
    case connections(RoomConnections)
    case room(RoomView)
    /// The room to open has its home on another shard.
    case homed(onShard: Int)
    case log(RoomLogView)
    case procedureEnded(Result<String, RequestError>)
    case done
    case error(HTTPError)
}

/// Receives a query's result. If the query is dropped with a stopped shard's mailbox, `deinit` ends the wait without a result.
package final class QueryReply<Answer: Sendable>: Sendable {
    private let answers: AsyncStream<Answer>.Continuation

    package init(_ answers: AsyncStream<Answer>.Continuation) {
        self.answers = answers
    }

    deinit {
        answers.finish()
    }

    package func callAsFunction(_ answer: Answer) {
        answers.yield(answer)
        answers.finish()
    }
}

/// The services' interface to the gateway's shards, implemented by `Gateway`.
package struct ShardControl: Sendable {
    /// Number of shards.
    package var count: Int
    /// The home shard of an open room; nil if no room of that name is open.
    package var homeShard: @Sendable (_ room: String) -> Int?
    /// Each shard's own port; empty with a single shard, and if the ports change with each start.
    package var ports: [Int] = []
    /// Whether the gateway is draining and admits no new participants.
    package var isDraining: @Sendable () -> Bool
    /// Sends a request to a shard's mailbox. A stopped shard drops it.
    package var send: @Sendable (ShardRequest, _ shard: Int) -> Void
    /// The other nodes of a cluster; nil for a gateway that runs alone.
    package var cluster: ClusterControl?

    package init(
        count: Int, ports: [Int] = [], homeShard: @escaping @Sendable (_ room: String) -> Int?, isDraining: @escaping @Sendable () -> Bool,
        send: @escaping @Sendable (ShardRequest, _ shard: Int) -> Void, cluster: ClusterControl? = nil
    ) {
        self.count = count
        self.ports = ports
        self.homeShard = homeShard
        self.isDraining = isDraining
        self.send = send
        self.cluster = cluster
    }
}

extension ShardControl {
    /// - Returns: nil if the shard has stopped.
    func ask(_ request: RoomQuery, of shard: Int) async -> RoomQueryResult? {
        for await answer in post(request, to: shard) { return answer }
        return nil
    }

    /// Stopped shards contribute no result.
    func askAll(_ request: RoomQuery) async -> [RoomQueryResult] {
        // Ask all shards before awaiting the first answer.
        let replies = (0..<count).map { post(request, to: $0) }
        var answers: [RoomQueryResult] = []
        for reply in replies {
            for await answer in reply { answers.append(answer) }
        }
        return answers
    }

    /// - Returns: the result, once it arrives; nothing if the shard has stopped.
    func post(_ request: RoomQuery, to shard: Int) -> AsyncStream<RoomQueryResult> {
        let (answers, reply) = AsyncStream.makeStream(of: RoomQueryResult.self, bufferingPolicy: .bufferingOldest(1))
        send(.query(request, QueryReply(reply)), shard)
        return answers
    }
}

/// The services' interface to the other nodes of a cluster, implemented by `Gateway`.
package struct ClusterControl: Sendable {
    /// Makes this node the home of a room unless another one is.
    package var claim: @Sendable (_ room: String) async -> RoomClaim
    /// Where an open room is. One whose home has ended or has handed it over goes on at this node; at another one if this node drains. It is
    /// `here` also if it is open nowhere.
    package var seek: @Sendable (_ room: String) async -> RoomClaim
    /// Where a room is, without claiming it: `here` also if it has no home.
    package var find: @Sendable (_ room: String) async -> RoomClaim
    /// Another node that should open a new room because its load is clearly lower; nil if this node should, or if the room has a home. The
    /// room's name is nil if it is new.
    package var lighter: @Sendable (_ room: String?) async -> String?
    /// Closes a room at another node, which is its home or becomes it.
    package var close: @Sendable (_ room: String, _ node: String) async -> Bool

    /// The node that serves channels, calls and dispatch.
    package var findCoordinator: @Sendable () async -> RoomClaim
    package var relay: NodeRelay
    package var ask: @Sendable (NodeQuery) async -> NodeAnswers
    /// Notifies the other running nodes.
    package var notify: @Sendable (NodeNotice) async -> Void
    /// The URL at which clients reach the node of a claim directly; nil if only a load balancer leads there.
    package var url: @Sendable (RoomClaim) -> String?

    package init(
        claim: @escaping @Sendable (_ room: String) async -> RoomClaim, seek: @escaping @Sendable (_ room: String) async -> RoomClaim,
        find: @escaping @Sendable (_ room: String) async -> RoomClaim,
        lighter: @escaping @Sendable (_ room: String?) async -> String?,
        close: @escaping @Sendable (_ room: String, _ node: String) async -> Bool,
        findCoordinator: @escaping @Sendable () async -> RoomClaim,
        relay: @escaping NodeRelay, ask: @escaping @Sendable (NodeQuery) async -> NodeAnswers,
        notify: @escaping @Sendable (NodeNotice) async -> Void, url: @escaping @Sendable (RoomClaim) -> String?
    ) {
        (self.claim, self.seek, self.find, self.lighter, self.close) = (claim, seek, find, lighter, close)
        (self.findCoordinator, self.relay, self.ask, self.notify, self.url) = (findCoordinator, relay, ask, notify, url)
    }
}

/// A query to each node of a cluster.
package enum NodeQuery: String, Sendable {
    case rooms, snapshots, recordings

    /// Nodes of an earlier version do not know the query, and have nothing to answer.
    package var isRecent: Bool { self == .recordings }
}

/// The answers of the other nodes that run.
package struct NodeAnswers: Sendable {
    package var contents: [[UInt8]]
    /// False if a node does not answer in time, or this one does not know which nodes run.
    package var isComplete: Bool

    package init(_ contents: [[UInt8]] = [], isComplete: Bool = true) {
        (self.contents, self.isComplete) = (contents, isComplete)
    }
}

package enum RoomClaim: Sendable, Hashable {
    case here
    /// By its name in the cluster.
    case elsewhere(node: String)
    /// The cluster cannot say now.
    case unavailable
    case draining
}

/// A request to one shard.
package enum ShardRequest: Sendable {
    case query(RoomQuery, QueryReply<RoomQueryResult>)
    case device(ChannelCommand)
}

extension HTTPError {
    /// A request or command that a room or a service refuses.
    package init(_ error: RequestError) {
        self.init(
            ErrorCode(rawValue: error.code.description) ?? .invalidArgument, error.message, retryAfterSeconds: error.retryable ? 1 : nil)
    }
}
