internal import Backend
internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Wire

/// Operational routes: health, metrics and the OpenAPI document. No authentication.
enum OperationRoutes {
    /// Routes for operators only.
    static let sensitivePaths: Set<String> = ["/metrics", "/readyz"]

    static func routes(_ rooms: RoomService, _ state: GatewayState, _ snapshot: @escaping @Sendable () -> MetricsSnapshot) -> [Route] {
        [
            Route(.get, "/healthz", "Whether the process serves", access: .open, responses: [.content("text/plain")]) { _, _ in
                HTTPServerResponse(text: "ok\n")
            },
            Route(
                .get, "/readyz", "Whether the gateway admits new participants", access: .open,
                responses: [.content("text/plain"), .error(.serviceUnavailable)]
            ) { _, _ in
                guard state.phase < .draining else {
                    throw HTTPError(.draining, "this gateway is about to stop; connect to another one")
                }
                return HTTPServerResponse(text: "ready\n")
            },
            Route(
                .get, "/metrics", "Counters in Prometheus's text format", access: .open, responses: [.content("text/plain")]
            ) { _, _ in
                await rooms.publishCounters()
                return HTTPServerResponse(text: PrometheusText(snapshot()).text, type: "text/plain; version=0.0.4; charset=utf-8")
            },
        ]
    }

    /// `/v1/rtc` without an upgrade.
    static var webSocket: Route {
        Route(
            .get, "/v1/rtc", "The WebSocket for joining rooms", access: .verifiedElsewhere("room"),
            responses: [.error(.upgradeRequired)]
        ) { _, _ in
            throw HTTPError(
                .upgradeRequired, "this is a WebSocket endpoint; upgrade with subprotocol patchbay.v1")
        }
    }

    /// `/v1/rtc/validate`: tells web pages, which cannot read the response to a failed upgrade, why it failed.
    ///
    /// - Parameter shards: the shards' mailboxes. Any shard can tell.
    static func validation(_ shards: [Mailbox<ShardMessage>], _ rooms: RoomService, _ keys: KeysInUse, _ joins: JoinChecks?) -> Route {
        Route(
            .get, "/v1/rtc/validate", "Whether a token would be admitted by the WebSocket; refused in the same way",
            access: .verifiedElsewhere("room"),
            parameters: [
                .query("access_token", .text, "The token, if it is not in the Authorization header"),
                .query("resume", .text, "The resume token, if a connection would resume"),
            ],
            responses: [.json(ValidJoin.self), .error(.notFound), .error(.conflict)]
        ) { request, _ in
            try await checkIsHome(ofRoomIn: request, rooms, keys)
            let (answers, reply) = AsyncStream.makeStream(of: Result<JoinRequest, HTTPError>.self, bufferingPolicy: .bufferingOldest(1))
            shards[Int.random(in: shards.indices)].send(.validate(request, QueryReply(reply)))
            var answer = Result<JoinRequest, HTTPError>.failure(.draining)
            for await only in answers { answer = only }
            let join = try answer.get()
            if let check = join.check { try await joins?.require(check) }
            return try .json(ValidJoin(room: join.room, identity: join.admission.identity.text))
        }
    }

    /// In a cluster, only the home of a room knows whether it is full, and asks the coordinator about some joins. A token that is not valid is refused by any node.
    private static func checkIsHome(ofRoomIn request: HTTPServerRequest, _ rooms: RoomService, _ keys: KeysInUse) async throws(HTTPError) {
        guard rooms.isInCluster, let text = try? ConnectionAdmission.token(of: request),
            let token = try? TokenVerifier().verify(text, keys: keys.current, now: WallClock.seconds), let grant = try? JoinGrant(token)
        else { return }
        if case .elsewhere(let node) = try await rooms.claim(grant.room) { throw .elsewhere(node) }
    }

    /// `/openapi.json`, which describes these routes and itself.
    static func document(of routes: [Route], version: String) -> Route {
        let outcomes = [RouteOutcome.json(.map(of: .anything))]
        func route(_ response: HTTPServerResponse) -> Route {
            Route(.get, "/openapi.json", "The OpenAPI 3.1 document of these routes", access: .open, responses: outcomes) { _, _ in response
            }
        }
        let document = OpenAPI.document(of: routes + [route(HTTPServerResponse(status: .ok))], version: version)
        let body = (try? JSON.encode(document, names: .asDeclared)) ?? []
        return route(HTTPServerResponse(status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-cache"], body: body))
    }
}

/// The answer to a token that would be admitted.
private struct ValidJoin: Encodable, Sendable, Described {
    var room: String
    var identity: String

    static let schema = Schema.named(
        "ValidJoin",
        .object([
            .required("room", .text(1...ProtocolLimits.roomNameBytesMax)),
            .required("identity", .text(1...ProtocolLimits.identityBytesMax)),
        ]))
}
