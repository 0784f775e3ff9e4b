internal import Backend
internal import Cluster
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets

/// Whether the HTTP request that the current task handles was forwarded by another node, which has thereby chosen this one.
enum ForwardedRequest {
    @TaskLocal static var isCurrent = false
}

extension GatewayContext {
    /// The services' interface to the other nodes; nil for a gateway that runs alone.
    var clusterControl: ClusterControl? {
        guard let cluster, let coordination, let queries else { return nil }
        return ClusterControl(
            claim: { RoomClaim(await cluster.locate($0)) },
            seek: { await cluster.seek($0) },
            find: { await cluster.find($0) },
            lighter: { ForwardedRequest.isCurrent ? nil : await cluster.lighterNode(for: $0)?.node.description },
            close: { [nodes, keysInUse] room, node in
                guard let nodes, let key = keysInUse.current.signer,
                    let address = cluster.other(named: node)?.address.flatMap(NodeAddress.init)
                else { return false }
                return await nodes.close(room, at: address, signedBy: key)
            }, findCoordinator: { await coordination.find() }, relay: { coordination.relay($0) },
            ask: { await queries.ask($0) }, notify: { await queries.notify($0) },
            url: { claim in
                switch claim {
                case .here: cluster.beat.url
                case .elsewhere(let node): cluster.other(named: node)?.url
                case .unavailable, .draining: nil
                }
            })
    }

    /// The routes for other nodes. Only their port has them.
    var routesOfNodes: [Route] { [messagesRoute, joins?.route].compactMap(\.self) + (queries?.routes ?? []) }

    private var messagesRoute: Route? {
        guard let coordination else { return nil }
        return Route(
            .post, RoutePath(stringLiteral: NodeClient.messagesPath), "Messages of another node", access: .open, responses: [.noContent]
        ) { request, _ in
            guard coordination.receive(request.body) else {
                throw HTTPError(.badRequest, "not a batch of messages to this node, sealed with the cluster's key")
            }
            return HTTPServerResponse(status: .noContent)
        }
    }

    /// - Returns: nil if the node does not run any more, or does not answer.
    func forward(_ request: ReceivedRequest, body: [UInt8], toNode name: String) async -> HTTPServerResponse? {
        guard let nodes, let address = cluster?.other(named: name)?.address.flatMap(NodeAddress.init) else { return nil }
        return await nodes.forward(request, body: body, to: address)
    }
}
