internal import Backend
internal import Cluster
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Wire

/// Queries and notices to all nodes of the cluster. They are sealed with the cluster's key, so that only its nodes get answers.
struct NodeQueries: Sendable {
    private static let path = "/cluster/queries"
    private static let noticesPath = "/cluster/notices"
    private static let repetitionInterval = Duration.milliseconds(500)
    private static let repetitionsMax = 120

    private let cluster: ClusterRooms
    private let client: NodeClient
    private let key: SealingKey
    /// Answers for this node alone.
    private let rooms: RoomService
    private let recordings: RecordingLog?

    init(_ cluster: ClusterRooms, _ client: NodeClient, key: SealingKey, rooms: RoomService, recordings: RecordingLog?) {
        (self.cluster, self.client, self.rooms, self.recordings) = (cluster, client, rooms, recordings)
        self.key = key.derived(for: "queries of nodes")
    }

    /// The answers of all other nodes that run. Those that do not answer within two seconds are left out.
    func ask(_ query: NodeQuery) async -> [[UInt8]] {
        await withTaskGroup(of: [UInt8]?.self) { group in
            for node in cluster.others {
                guard let address = node.address.flatMap(NodeAddress.init) else { continue }
                let sealed = SealedBox.seal(Array(query.rawValue.utf8), with: key, at: node.node.description)
                group.addTask { await client.ask(sealed, path: Self.path, at: address) }
            }
            return await group.reduce(into: []) { answers, answer in if let answer { answers.append(answer) } }
        }
    }

    /// Sends a notice to all other running nodes. Returns when it has taken effect on them, or after two seconds. To a node that has not
    /// responded, the notice is sent again for up to a minute.
    func notify(_ notice: NodeNotice) async {
        // Encoding identifiers cannot fail.
        guard let bytes = try? JSON.encode(notice, names: .asDeclared) else { return }
        await withTaskGroup { group in
            for beat in cluster.others {
                let node = beat.node.description
                let sealed = SealedBox.seal(bytes, with: key, at: node)
                group.addTask {
                    if await send(sealed, to: node) || !notice.mustArrive { return }
                    Task {
                        for _ in 0..<Self.repetitionsMax {
                            try? await Task.sleep(for: Self.repetitionInterval)
                            if await send(sealed, to: node) { return }
                        }
                    }
                }
            }
        }
    }

    /// - Returns: whether the node has responded; true also if it does not run.
    private func send(_ sealed: [UInt8], to node: String) async -> Bool {
        guard let address = cluster.other(named: node)?.address.flatMap(NodeAddress.init) else { return true }
        return await client.ask(sealed, path: Self.noticesPath, at: address) != nil
    }

    /// The routes for queries and notices from other nodes. Only the nodes' port has them.
    var routes: [Route] { [queries, notices] }

    private var notices: Route {
        Route(
            .post, RoutePath(stringLiteral: Self.noticesPath), "Applies a notice from another node", access: .open,
            responses: [.noContent]
        ) { request, _ in
            guard let text = SealedBox.open(request.body, with: key, at: cluster.identity.description),
                let notice = try? JSON.decode(NodeNotice.self, from: text, names: .asDeclared)
            else { throw HTTPError(.badRequest, "not a notice to this node, sealed with the cluster's key") }
            await cluster.apply(notice)
            return HTTPServerResponse(status: .noContent)
        }
    }

    private var queries: Route {
        Route(
            .post, RoutePath(stringLiteral: Self.path), "Answers a question of another node", access: .open,
            responses: [.content("application/json")]
        ) { request, _ in
            guard let text = SealedBox.open(request.body, with: key, at: cluster.identity.description),
                let query = NodeQuery(rawValue: String(decoding: text, as: UTF8.self))
            else { throw HTTPError(.badRequest, "not a question to this node, sealed with the cluster's key") }
            return HTTPServerResponse(status: .ok, body: try await rooms.answer(query, recordings))
        }
    }
}
