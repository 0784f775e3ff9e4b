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

    package static let roomNotFound = HTTPError(.roomNotFound, "no room of that name is open")
    static let noAnswer = HTTPError(
        .draining, "this gateway is about to stop; connect to another one", retryAfterSeconds: 1)

    // MARK: Queries

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

    /// Makes all shards publish their counters.
    package func publishCounters() async {
        _ = await shards.askAll(.counters)
    }

    private func ask(_ request: RoomQuery, aboutRoom name: String) async throws(HTTPError) -> RoomQueryResult? {
        guard let home = try await homeShard(of: name) else { throw Self.roomNotFound }
        let answer = await shards.ask(request, of: home)
        if case .error(let error) = answer { throw error }
        return answer
    }

    // MARK: Commands

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
            switch await shards.ask(.open(name, opening), of: shard) {
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

    /// Sends a command to a room that is open at this node, without waiting for its result.
    package func sendHere(_ command: Room.AdminCommand, to room: String) {
        guard let home = shards.homeShard(room) else { return }
        _ = shards.post(.command(command, room: room), to: home)
    }

    /// Sends a command to an open room, at whichever node it is, without waiting for its result. Commands of a node to a room arrive in order.
    package func send(_ command: RoomCommand, to room: String) {
        if shards.homeShard(room) != nil { return sendHere(command.administration, to: room) }
        _ = shards.cluster?.relay(.command(command, room: room))
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
}

extension Room.AdminCommand {
    fileprivate var endsRoom: Bool {
        switch self {
        case .delete, .close: true
        default: false
        }
    }
}
