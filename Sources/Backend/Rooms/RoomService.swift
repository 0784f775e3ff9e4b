package import Engine
internal import HTTPTypes
package import HTTPServer

/// What HTTP handlers, and others who are on no shard's thread, may ask the shards for: rooms, and what an administrator does to them.
package struct RoomService: Sendable {
    let shards: ShardControl

    package init(shards: ShardControl) {
        self.shards = shards
    }

    /// All rooms that are open, the oldest first.
    package func rooms() async -> [RoomSummary] {
        let rooms = await askAll(.rooms).flatMap { answer -> [RoomSummary] in
            if case .rooms(let rooms) = answer { rooms } else { [] }
        }
        return rooms.sorted { ($0.createdAt, $0.name) < ($1.createdAt, $1.name) }
    }

    func detail(of room: String) async throws(HTTPError) -> RoomDetail {
        guard case .room(let detail)? = try await ask(.room(room), aboutRoom: room) else { throw Self.noAnswer }
        return detail
    }

    /// Does it, and returns when it is done.
    ///
    /// - Throws: `HTTPError` with status 404 if the room or what the command names is not there.
    package func perform(_ command: Room.AdminCommand, in room: String) async throws(HTTPError) {
        guard case .done? = try await ask(.command(command, room: room), aboutRoom: room) else { throw Self.noAnswer }
    }

    /// For what leads into a room: during a drain nobody would be let in.
    func checkThatRoomsAreOpen() throws(HTTPError) {
        guard !shards.isDraining() else { throw Self.noAnswer }
    }

    /// Has all shards bring their counters up to date.
    package func publishCounters() async {
        _ = await askAll(.counters)
    }

    package static let roomNotFound = HTTPError(.notFound, "room_not_found", "no room of that name is open")
    private static let noAnswer = HTTPError(
        .serviceUnavailable, "draining", "this gateway is about to stop; connect to another one", retryAfterSeconds: 1)

    // MARK: Asking

    private func ask(_ request: RoomQuery, aboutRoom name: String) async throws(HTTPError) -> RoomQueryResult? {
        guard let home = shards.homeShard(name) else { throw Self.roomNotFound }
        let answer = await ask(request, of: home)
        if case .error(let error) = answer { throw error }
        return answer
    }

    /// Shards that have ended are left out.
    func askAll(_ request: RoomQuery) async -> [RoomQueryResult] {
        // All are asked before the first answer is awaited.
        let replies = (0..<shards.count).map { post(request, to: $0) }
        var answers: [RoomQueryResult] = []
        for reply in replies {
            for await answer in reply { answers.append(answer) }
        }
        return answers
    }

    /// Nil from a shard that has ended.
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
        shards.send(.query(request, RoomQueryReply(reply)), shard)
        return answers
    }
}

/// What a shard is asked by somebody who is on no shard's thread.
package enum RoomQuery: Sendable {
    /// All rooms that are homed there.
    case rooms
    /// The same with those who are in them.
    case openRooms
    /// Bring your counters up to date.
    case counters
    case room(String)
    case command(Room.AdminCommand, room: String)
}

package enum RoomQueryResult: Sendable {
    case rooms([RoomSummary])
    case openRooms([RoomService.OpenRoom])
    case room(RoomDetail)
    case done
    case error(HTTPError)
}

/// Where an answer goes. A request that is lost with the mailbox of a shard that has ended takes its reply with it, and whoever waits is
/// told that there is no answer.
package final class RoomQueryReply: Sendable {
    private let answers: AsyncStream<RoomQueryResult>.Continuation

    init(_ answers: AsyncStream<RoomQueryResult>.Continuation) {
        self.answers = answers
    }

    deinit {
        answers.finish()
    }

    package func callAsFunction(_ answer: RoomQueryResult) {
        answers.yield(answer)
        answers.finish()
    }
}
