internal import Backend
internal import Cluster
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import OutgoingHTTP
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

    /// The answers of all other nodes that run. They have two seconds to answer.
    func ask(_ query: NodeQuery) async -> NodeAnswers {
        guard await cluster.knowsOthers() else { return NodeAnswers(isComplete: false) }
        return await withTaskGroup(of: Answer.self) { group in
            for beat in cluster.others { group.addTask { await answer(of: beat, to: query) } }
            return await group.reduce(into: NodeAnswers()) { answers, answer in
                switch answer {
                case .content(let content): answers.contents.append(content)
                case .nothing: break
                case .missing: answers.isComplete = false
                }
            }
        }
    }

    private enum Answer: Sendable {
        case content([UInt8])
        /// The node has nothing to answer.
        case nothing
        case missing
    }

    private func answer(of beat: NodeBeat, to query: NodeQuery) async -> Answer {
        guard let address = beat.address.flatMap(NodeAddress.init) else { return .missing }
        let sealed = SealedBox.seal(Array(query.rawValue.utf8), with: key, at: beat.node.description)
        do throws(OutgoingError) {
            let response = try await client.ask(sealed, path: Self.path, at: address)
            if response.status.kind == .successful { return .content(response.body) }
            // A node that does not know the query, or the successor of one that has ended.
            return response.status == .badRequest && (query.isRecent || beat.isDraining) ? .nothing : .missing
        } catch {
            // A node that drains ends when it has handed its rooms over, and counts as running for a moment longer.
            return beat.isDraining && error != .timeout ? .nothing : .missing
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
        return (try? await client.ask(sealed, path: Self.noticesPath, at: address))?.status.kind == .successful
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
