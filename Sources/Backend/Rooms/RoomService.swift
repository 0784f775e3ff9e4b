package import Engine
package import HTTPServer
internal import HTTPTypes
package import Wire

/// Room queries and administrator commands, callable from any thread. Each is sent to the room's home shard.
package struct RoomService: Sendable {
    let shards: ShardControl

    package init(shards: ShardControl) {
        self.shards = shards
    }

    /// All open rooms, oldest first, of the whole cluster. Not an atomic snapshot: each shard answers on its own. A gateway that has stopped
    /// reports none, and rooms of a node that has ended are missing until they go on at another one.
    ///
    /// - Throws: `HTTPError` with status 503 if rooms of other nodes may be missing.
    package func rooms() async throws(HTTPError) -> [RoomListEntry] {
        let here = await roomsHere()
        let rooms = here + (try await askOthers(.rooms, as: RoomListEntry.self).checked())
        return Self.unique(rooms, by: \.sid).sorted { ($0.createdAt, $0.name) < ($1.createdAt, $1.name) }
    }

    /// Snapshots of all open rooms, as in audit events; otherwise like `rooms()`.
    package func snapshots() async throws(HTTPError) -> [Room.Snapshot] {
        let here = await snapshotsHere()
        let snapshots = here + (try await askOthers(.snapshots, as: Room.Snapshot.self).checked())
        return Self.unique(snapshots, by: \.info.sid).sorted { ($0.info.createdAt, $0.info.name) < ($1.info.createdAt, $1.info.name) }
    }

    private func roomsHere() async -> [RoomListEntry] {
        await askAll(.rooms).flatMap { answer -> [RoomListEntry] in
            if case .rooms(let rooms) = answer { rooms } else { [] }
        }
    }

    private func snapshotsHere() async -> [Room.Snapshot] {
        await askAll(.snapshots).flatMap { answer -> [Room.Snapshot] in
            if case .snapshots(let snapshots) = answer { snapshots } else { [] }
        }
    }

    /// The recordings of the other nodes.
    func recordingsElsewhere() async -> Elsewhere<RecordingLog.Entry> { await askOthers(.recordings, as: RecordingLog.Entry.self) }

    /// This node's answer to a query of another one.
    ///
    /// - Parameter recordings: this node's; nil: it has none.
    package func answer(_ query: NodeQuery, _ recordings: RecordingLog?) async throws -> [UInt8] {
        switch query {
        case .rooms: try JSON.encode(await roomsHere(), names: .asDeclared)
        case .snapshots: try JSON.encode(await snapshotsHere(), names: .asDeclared)
        case .recordings: try JSON.encode(recordings?.entries ?? [], names: .asDeclared)
        }
    }

    /// Notifies the other nodes of a cluster. Returns when the notice has taken effect on all of them, or after two seconds.
    package func notifyOtherNodes(_ notice: NodeNotice) async { await shards.cluster?.notify(notice) }

    /// The elements that the other nodes of a cluster reported.
    struct Elsewhere<Element> {
        var elements: [Element] = []
        /// All running nodes have answered.
        var isComplete = true

        /// - Throws: `HTTPError` with status 503 if something may be missing.
        func checked() throws(HTTPError) -> [Element] {
            guard isComplete else { throw .listIncomplete }
            return elements
        }
    }

    private func askOthers<Element: Decodable>(_ query: NodeQuery, as _: Element.Type) async -> Elsewhere<Element> {
        guard let cluster = shards.cluster else { return Elsewhere() }
        let answers = await cluster.ask(query)
        var found = Elsewhere<Element>(isComplete: answers.isComplete)
        for content in answers.contents {
            guard let elements = try? JSON.decode([Element].self, from: content, names: .asDeclared) else {
                found.isComplete = false
                continue
            }
            found.elements += elements
        }
        return found
    }

    /// A room that moves may be open at two nodes for a moment.
    private static func unique<Element>(_ elements: [Element], by sid: KeyPath<Element, RoomSID>) -> [Element] {
        var known: Set<RoomSID> = []
        return elements.filter { known.insert($0[keyPath: sid]).inserted }
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
    ///
    /// - Throws: `HTTPError.elsewhere` if another node is the room's home, so that the request is forwarded to it.
    func participant(of assistant: String, in room: String) async throws(HTTPError) -> ParticipantInfo? {
        let identity = CallParty.assistant(assistant).identity
        do throws(HTTPError) {
            return try await detail(of: room).participants.first { $0.identity == identity }
        } catch {
            guard error.code == .roomNotFound else { throw error }
            return nil
        }
    }

    /// The port of the shard that hosts an open room; nil with a single shard, and if ports change with each start: whoever connects there
    /// could not return after a restart.
    func homePort(of room: String) -> Int? {
        guard let home = shards.homeShard(room), shards.ports.indices.contains(home) else { return nil }
        return shards.ports[home]
    }

    /// Opens a room without participants, or returns the open one unchanged. A new room reports its start and dispatches its agents at
    /// once, and ends if nobody joins within its `emptyTimeout`.
    ///
    /// - Throws: `HTTPError` with status 400 or 413 for an invalid name or metadata, 503 during a drain, and that of a join if the name
    ///   belongs to a session or a call that has ended.
    package func open(_ name: String, _ opening: RoomOpening) async throws(HTTPError) -> RoomView {
        guard (1...ProtocolLimits.roomNameBytesMax).contains(name.utf8.count) else {
            throw HTTPError(.invalidArgument, "the name of a room has 1 to \(ProtocolLimits.roomNameBytesMax) bytes")
        }
        guard (opening.metadata?.utf8.count ?? 0) <= ProtocolLimits.metadataBytesMax else {
            throw HTTPError(.metadataTooLarge, "metadata has at most \(ProtocolLimits.metadataBytesMax) bytes")
        }
        try checkNotDraining()
        try await checkLoad(toBegin: name)
        if case .elsewhere(let node) = try await claim(name) { throw .elsewhere(node) }
        guard shards.count > 0 else { throw Self.noAnswer }
        // Concurrent openings of a new room choose the same shard.
        var shard = shards.homeShard(name) ?? Int(UInt(bitPattern: name.hashValue) % UInt(shards.count))
        while true {
            switch await ask(.open(name, opening), of: shard) {
            case .room(let view)?: return view
            // A participant has joined through that shard in the meantime.
            case .homed(let home)?: shard = home
            case .error(let error)?: throw error
            default: throw Self.noAnswer
            }
        }
    }

    /// Performs a command and waits until the shard has executed it.
    ///
    /// - Throws: `HTTPError` with status 404 if the room or the command's target does not exist, and another below 500 if the room refuses
    ///   the command.
    package func perform(_ command: Room.AdminCommand, in room: String) async throws(HTTPError) {
        guard case .done? = try await ask(.command(command, room: room), aboutRoom: room) else { throw Self.noAnswer }
    }

    /// Performs a command.
    ///
    /// - Returns: false if the room or the command's target does not exist, or it is refused.
    @discardableResult
    package func attempt(_ command: Room.AdminCommand, in room: String) async -> Bool {
        do throws(HTTPError) {
            try await perform(command, in: room)
            return true
        } catch {
            guard let node = error.node, command.endsRoom else { return false }
            return await shards.cluster?.close(room, node) ?? false
        }
    }

    /// Makes this node the home of a room, unless another one is. Without a cluster it always is.
    ///
    /// - Throws: `HTTPError` with status 503 if the cluster cannot decide, or this node takes no new rooms.
    @discardableResult
    package func claim(_ room: String) async throws(HTTPError) -> RoomClaim {
        switch await shards.cluster?.claim(room) ?? .here {
        case .unavailable: throw .homeUnavailable
        case .draining: throw Self.noAnswer
        case let claim: return claim
        }
    }

    package var isInCluster: Bool { shards.cluster != nil }

    /// The URL at which clients reach a room's home directly; nil if only a load balancer leads there, and for a gateway that runs alone.
    func url(of claim: RoomClaim) -> String? { shards.cluster?.url(claim) }

    /// Like `url(of:)`, for a room that need not have a home.
    func homeURL(of room: String) async -> String? {
        guard let cluster = shards.cluster else { return nil }
        return cluster.url(await cluster.find(room))
    }

    /// Calls a procedure of a participant, which sees a caller without identity, and waits for its outcome.
    ///
    /// - Returns: the payload of the answer.
    /// - Throws: `ProcedureError`, with the codes that a caller in the room gets; `HTTPError` for an unknown room, an invalid call, and one
    ///   beyond `Limits.proceduresPendingMax`.
    package func callProcedure(_ call: ProcedureCall, in room: String) async throws -> String {
        guard case .procedureEnded(let outcome)? = try await ask(.callProcedure(call, room: room), aboutRoom: room) else {
            throw Self.noAnswer
        }
        do throws(RequestError) {
            return try outcome.get()
        } catch {
            guard let code = error.code.rpc else { throw HTTPError(error) }
            throw ProcedureError(code: code, message: error.message)
        }
    }

    /// Reads the room directory without asking the shard, so it may lag behind the last participant's departure.
    package func roomIsOpen(named name: String) -> Bool { shards.homeShard(name) != nil }

    /// Throws during a drain, when rooms admit nobody.
    func checkNotDraining() throws(HTTPError) {
        guard !shards.isDraining() else { throw Self.noAnswer }
    }

    /// Checks whether this node should open a new room.
    ///
    /// - Parameter room: nil for one whose name is new.
    /// - Throws: `HTTPError.elsewhere` if another node has a clearly lower load, so that the request is forwarded to it.
    func checkLoad(toBegin room: String?) async throws(HTTPError) {
        if let node = await shards.cluster?.lighter(room) { throw .elsewhere(node) }
    }

    /// Whether a room is open.
    ///
    /// - Throws: as `homeShard(of:)`.
    func isOpen(_ room: String) async throws(HTTPError) -> Bool { try await homeShard(of: room) != nil }

    /// Makes all shards publish their counters.
    package func publishCounters() async {
        _ = await askAll(.counters)
    }

    package static let roomNotFound = HTTPError(.roomNotFound, "no room of that name is open")
    private static let noAnswer = HTTPError(
        .draining, "this gateway is about to stop; connect to another one", retryAfterSeconds: 1)

    /// The shard of an open room. Like a join, it lets a room whose home has ended, or has handed it over, go on at this node.
    ///
    /// - Returns: nil for a room that is not open.
    /// - Throws: `HTTPError.elsewhere` if another node is the home of the room, so that the request is forwarded to it. Otherwise 503 if the
    ///   cluster cannot say where the room is.
    private func homeShard(of room: String) async throws(HTTPError) -> Int? {
        if let home = shards.homeShard(room) { return home }
        switch await shards.cluster?.seek(room) ?? .here {
        case .here: return shards.homeShard(room)
        case .elsewhere(let node): throw .elsewhere(node)
        case .unavailable: throw .homeUnavailable
        case .draining: throw Self.noAnswer
        }
    }

    /// - Throws: `HTTPError.elsewhere` if another node of the cluster serves channels, calls and dispatch, so that the request is forwarded.
    func checkCoordinates() async throws(HTTPError) {
        switch await shards.cluster?.findCoordinator() ?? .here {
        case .here: return
        case .elsewhere(let node): throw .elsewhere(node)
        case .unavailable: throw .homeUnavailable
        case .draining: throw Self.noAnswer
        }
    }

    // MARK: Queries

    private func ask(_ request: RoomQuery, aboutRoom name: String) async throws(HTTPError) -> RoomQueryResult? {
        guard let home = try await homeShard(of: name) else { throw Self.roomNotFound }
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

    /// Sends a command to a room that is open at this node, without waiting for its result.
    package func sendHere(_ command: Room.AdminCommand, to room: String) {
        guard let home = shards.homeShard(room) else { return }
        _ = post(.command(command, room: room), to: home)
    }

    /// Sends a command to an open room, at whichever node it is, without waiting for its result. Commands of a node to a room arrive in order.
    package func send(_ command: RoomCommand, to room: String) {
        if shards.homeShard(room) != nil { return sendHere(command.administration, to: room) }
        _ = shards.cluster?.relay(.command(command, room: room))
    }

    private func post(_ request: RoomQuery, to shard: Int) -> AsyncStream<RoomQueryResult> {
        let (answers, reply) = AsyncStream.makeStream(of: RoomQueryResult.self, bufferingPolicy: .bufferingOldest(1))
        shards.send(.query(request, QueryReply(reply)), shard)
        return answers
    }
}

extension HTTPError {
    fileprivate static let listIncomplete = HTTPError(
        .homeUnavailable, "a node of the cluster does not answer, so that the list would be incomplete; try again", retryAfterSeconds: 1)
}

extension Room.AdminCommand {
    fileprivate var endsRoom: Bool {
        switch self {
        case .delete, .close: true
        default: false
        }
    }
}
