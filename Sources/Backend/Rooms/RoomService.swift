package import Engine
package import HTTPServer
internal import HTTPTypes
internal import Wire

/// Room queries and administrator commands, callable from any thread. Each is sent to the room's home shard.
package struct RoomService: Sendable {
    let shards: ShardControl

    package init(shards: ShardControl) {
        self.shards = shards
    }

    /// All shards' open rooms, oldest first. Not an atomic snapshot: each shard answers on its own. A stopped gateway reports none.
    package func rooms() async -> [RoomListEntry] {
        let rooms = await askAll(.rooms).flatMap { answer -> [RoomListEntry] in
            if case .rooms(let rooms) = answer { rooms } else { [] }
        }
        return rooms.sorted { ($0.createdAt, $0.name) < ($1.createdAt, $1.name) }
    }

    /// Returns the participants with the worst connections on all shards, and the number of all participants. Like `rooms()`, not an
    /// atomic snapshot.
    package func connections(atMost limit: Int) async -> RoomConnections {
        await askAll(.connections(atMost: limit)).reduce(into: RoomConnections(limit: limit)) { all, answer in
            if case .connections(let some) = answer { all.merge(some) }
        }
    }

    func detail(of room: String) async throws(HTTPError) -> RoomView {
        guard case .room(let detail)? = try await ask(.room(room), aboutRoom: room) else { throw Self.noAnswer }
        return detail
    }

    /// The latest events of an open room.
    func log(of room: String) async throws(HTTPError) -> RoomLogView {
        guard case .log(let log)? = try await ask(.log(room), aboutRoom: room) else { throw Self.noAnswer }
        return log
    }

    /// The participant of an assistant in an open room.
    func participant(of assistant: String, in room: String) async -> ParticipantInfo? {
        let identity = CallParty.assistant(assistant).identity
        return (try? await detail(of: room))?.participants.first { $0.identity == identity }
    }

    /// The port of the shard that hosts an open room; nil with a single shard, and if ports change with each start: whoever connects there
    /// could not return after a restart.
    func homePort(of room: String) -> Int? {
        guard let home = shards.homeShard(room), shards.ports.indices.contains(home) else { return nil }
        return shards.ports[home]
    }

    /// Performs a command and waits until the shard has executed it.
    ///
    /// - Throws: `HTTPError` with status 404 if the room or the command's target does not exist.
    package func perform(_ command: Room.AdminCommand, in room: String) async throws(HTTPError) {
        guard case .done? = try await ask(.command(command, room: room), aboutRoom: room) else { throw Self.noAnswer }
    }

    /// Performs a command.
    ///
    /// - Returns: false if the room or the command's target does not exist, or it is refused.
    @discardableResult
    package func attempt(_ command: Room.AdminCommand, in room: String) async -> Bool {
        (try? await perform(command, in: room)) != nil
    }

    /// Reads the room directory without asking the shard, so it may lag behind the last participant's departure.
    package func roomIsOpen(named name: String) -> Bool { shards.homeShard(name) != nil }

    /// Throws during a drain, when rooms admit nobody.
    func checkNotDraining() throws(HTTPError) {
        guard !shards.isDraining() else { throw Self.noAnswer }
    }

    /// Makes all shards publish their counters.
    package func publishCounters() async {
        _ = await askAll(.counters)
    }

    package static let roomNotFound = HTTPError(.roomNotFound, "no room of that name is open")
    private static let noAnswer = HTTPError(
        .draining, "this gateway is about to stop; connect to another one", retryAfterSeconds: 1)

    // MARK: Queries

    private func ask(_ request: RoomQuery, aboutRoom name: String) async throws(HTTPError) -> RoomQueryResult? {
        guard let home = shards.homeShard(name) else { throw Self.roomNotFound }
        let answer = await ask(request, of: home)
        if case .error(let error) = answer { throw error }
        return answer
    }

    /// Stopped shards contribute no result.
    private func askAll(_ request: RoomQuery) async -> [RoomQueryResult] {
        // Ask all shards before awaiting the first answer.
        let replies = (0..<shards.count).map { post(request, to: $0) }
        var answers: [RoomQueryResult] = []
        for reply in replies {
            for await answer in reply { answers.append(answer) }
        }
        return answers
    }

    /// Nil if the shard has stopped.
    private func ask(_ request: RoomQuery, of shard: Int) async -> RoomQueryResult? {
        for await answer in post(request, to: shard) { return answer }
        return nil
    }

    /// Sends a command without waiting for its result.
    package func send(_ command: Room.AdminCommand, to room: String) {
        guard let home = shards.homeShard(room) else { return }
        _ = post(.command(command, room: room), to: home)
    }

    private func post(_ request: RoomQuery, to shard: Int) -> AsyncStream<RoomQueryResult> {
        let (answers, reply) = AsyncStream.makeStream(of: RoomQueryResult.self, bufferingPolicy: .bufferingOldest(1))
        shards.send(.query(request, QueryReply(reply)), shard)
        return answers
    }
}

/// A query or command sent to a shard from another thread.
package enum RoomQuery: Sendable {
    /// All rooms of the shard.
    case rooms
    /// Publish the shard's counters.
    case counters
    /// The worst connections of the shard's rooms.
    case connections(atMost: Int)
    case room(String)
    case log(String)
    case command(Room.AdminCommand, room: String)
}

package enum RoomQueryResult: Sendable {
    case rooms([RoomListEntry])
    case connections(RoomConnections)
    case room(RoomView)
    case log(RoomLogView)
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

    package init(
        count: Int, ports: [Int] = [], homeShard: @escaping @Sendable (_ room: String) -> Int?, isDraining: @escaping @Sendable () -> Bool,
        send: @escaping @Sendable (ShardRequest, _ shard: Int) -> Void
    ) {
        self.count = count
        self.ports = ports
        self.homeShard = homeShard
        self.isDraining = isDraining
        self.send = send
    }
}

/// A request to one shard.
package enum ShardRequest: Sendable {
    case query(RoomQuery, QueryReply<RoomQueryResult>)
    case device(ChannelCommand)
}
