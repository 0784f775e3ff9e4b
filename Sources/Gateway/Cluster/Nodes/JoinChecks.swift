internal import Backend
internal import Cluster
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Wire

/// A join that is permitted only while the participant is a member of its call, or while the agent's job is active.
struct JoinCheck: Sendable, Hashable, Codable {
    let room: String
    let identity: Identity
    /// The token's attribute that names the job; nil without one.
    let job: String?

    /// Nil for any other join.
    init?(_ token: AccessToken, _ grant: JoinGrant) {
        job = DispatchRegistry.job(in: token.attributes)
        guard job != nil || CallRooms.isCallRoom(grant.room) else { return nil }
        (room, identity) = (grant.room, grant.identity)
    }
}

/// Asks the coordinator about joins, because it alone knows the members of calls and the jobs of agents.
///
/// The room's home asks, because every join passes through it (`HeldUpgrades`). Without an answer, participants can resume but not join
/// (`JoinRequest.resumesOnly`): a participant that may not stay is removed from the room, and cannot resume after that.
struct JoinChecks: Sendable {
    enum Outcome: Sendable {
        case admitted
        case refused(HTTPError)
        /// The coordinator is not known, or does not answer.
        case unavailable
    }

    private struct Refusal: Codable {
        let code: String
        let message: String
    }

    private static let path = "/cluster/joins"

    private let cluster: ClusterRooms
    private let client: NodeClient
    private let key: SealingKey
    private let coordinator: @Sendable () -> String?
    private let error: @Sendable (JoinCheck) -> HTTPError?

    /// - Parameters:
    ///   - coordinator: by its name in the cluster; nil if it is not known.
    ///   - error: this node's reason to refuse a join; nil if it is permitted. Called only while this node is the coordinator.
    init(
        _ cluster: ClusterRooms, _ client: NodeClient, key: SealingKey, coordinator: @escaping @Sendable () -> String?,
        error: @escaping @Sendable (JoinCheck) -> HTTPError?
    ) {
        (self.cluster, self.client, self.coordinator, self.error) = (cluster, client, coordinator, error)
        self.key = key.derived(for: "checks of joins")
    }

    func ask(_ check: JoinCheck) async -> Outcome {
        guard let node = coordinator() else { return .unavailable }
        guard node != cluster.identity.description else { return error(check).map(Outcome.refused) ?? .admitted }
        // Encoding strings cannot fail.
        guard let address = cluster.other(named: node)?.address.flatMap(NodeAddress.init),
            let bytes = try? JSON.encode(check, names: .asDeclared),
            let response = try? await client.ask(SealedBox.seal(bytes, with: key, at: node), path: Self.path, at: address)
        else { return .unavailable }
        switch response.status {
        // A node of an earlier version admits all.
        case .noContent, .notFound: return .admitted
        case .ok:
            guard let refusal = try? JSON.decode(Refusal.self, from: response.body, names: .asDeclared),
                let code = ErrorCode(rawValue: refusal.code)
            else { return .unavailable }
            return .refused(HTTPError(code, refusal.message))
        default: return .unavailable
        }
    }

    /// - Throws: why the participant may not join.
    func require(_ check: JoinCheck) async throws(HTTPError) {
        switch await ask(check) {
        case .admitted: break
        case .refused(let error): throw error
        case .unavailable: throw .homeUnavailable
        }
    }

    /// Answers other nodes. Only the nodes' port has it.
    var route: Route {
        Route(
            .post, RoutePath(stringLiteral: Self.path), "Answers whether a participant may join a room", access: .open,
            responses: [.noContent, .content("application/json")]
        ) { request, _ in
            guard let bytes = SealedBox.open(request.body, with: key, at: cluster.identity.description),
                let check = try? JSON.decode(JoinCheck.self, from: bytes, names: .asDeclared)
            else { throw HTTPError(.badRequest, "not a question to this node, sealed with the cluster's key") }
            guard cluster.isHome(of: RoomHomes.coordinatorRoom) else { throw HTTPError.homeUnavailable }
            guard let error = error(check) else { return HTTPServerResponse(status: .noContent) }
            let refusal = Refusal(code: error.code.rawValue, message: error.message)
            return HTTPServerResponse(status: .ok, body: try JSON.encode(refusal, names: .asDeclared))
        }
    }
}
