package import Engine
package import HTTPServer
internal import Wire

/// Lists of the open rooms, of all nodes of a cluster where that is stated.
extension RoomService {
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

    /// Returns the participants with the worst connections on all shards, and the number of all participants. Like `rooms()`, not an
    /// atomic snapshot.
    package func connections(atMost limit: Int) async -> RoomConnections {
        await shards.askAll(.connections(atMost: limit)).reduce(into: RoomConnections(limit: limit)) { all, answer in
            if case .connections(let some) = answer { all.merge(some) }
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

    private func roomsHere() async -> [RoomListEntry] {
        await shards.askAll(.rooms).flatMap { answer -> [RoomListEntry] in
            if case .rooms(let rooms) = answer { rooms } else { [] }
        }
    }

    private func snapshotsHere() async -> [Room.Snapshot] {
        await shards.askAll(.snapshots).flatMap { answer -> [Room.Snapshot] in
            if case .snapshots(let snapshots) = answer { snapshots } else { [] }
        }
    }

    // MARK: Other nodes

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
}

extension HTTPError {
    fileprivate static let listIncomplete = HTTPError(
        .homeUnavailable, "a node of the cluster does not answer, so that the list would be incomplete; try again", retryAfterSeconds: 1)
}
