internal import Backend
internal import Cluster
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Wire

/// Questions to all nodes of the cluster. They are sealed with the cluster's key, so that only its nodes get answers.
struct NodeQueries: Sendable {
    private static let path = "/cluster/queries"

    private let cluster: ClusterRooms
    private let client: NodeClient
    private let key: SealingKey
    /// Answers for this node alone.
    private let rooms: RoomService

    init(_ cluster: ClusterRooms, _ client: NodeClient, key: SealingKey, rooms: RoomService) {
        (self.cluster, self.client, self.rooms) = (cluster, client, rooms)
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

    /// The route for questions of other nodes. Only their port has it.
    var route: Route {
        Route(
            .post, RoutePath(stringLiteral: Self.path), "Answers a question of another node", access: .open,
            responses: [.content("application/json")]
        ) { request, _ in
            guard let text = SealedBox.open(request.body, with: key, at: cluster.identity.description),
                let query = NodeQuery(rawValue: String(decoding: text, as: UTF8.self))
            else { throw HTTPError(.badRequest, "not a question to this node, sealed with the cluster's key") }
            return HTTPServerResponse(status: .ok, body: try await rooms.answer(query))
        }
    }
}
