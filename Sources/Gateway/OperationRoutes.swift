internal import Backend
internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Wire

/// Operational routes: health, metrics and the OpenAPI document. No authentication.
enum OperationRoutes {
    static func routes(
        _ rooms: RoomService, _ state: GatewayState, _ metrics: MetricsBoard, services: ServiceCounters, dispatch: DispatchRegistry? = nil,
        fastPath: RecordLayerState = .notLinked
    ) -> [Route] {
        [
            Route(.get, "/healthz", "Whether the process serves", access: .open, responses: [.content("text/plain")]) { _, _ in
                HTTPServerResponse(text: "ok\n")
            },
            Route(
                .get, "/readyz", "Whether the gateway admits new participants", access: .open,
                responses: [.content("text/plain"), .error(.serviceUnavailable)]
            ) { _, _ in
                guard state.phase < .draining else {
                    throw HTTPError(.serviceUnavailable, "draining", "this gateway is about to stop; connect to another one")
                }
                return HTTPServerResponse(text: "ready\n")
            },
            Route(
                .get, "/metrics", "Counters in Prometheus's text format", access: .open, responses: [.content("text/plain")]
            ) { _, _ in
                await rooms.publishCounters()
                let text = PrometheusText(
                    shards: metrics.snapshot, services: services, draining: state.phase >= .draining, fastPath: fastPath,
                    dispatch: dispatch?.counters)
                return HTTPServerResponse(text: text.text, type: "text/plain; version=0.0.4; charset=utf-8")
            },
            Route(
                .get, "/v1/rtc", "The WebSocket for joining rooms (PROTOCOL section 2)", access: .open,
                responses: [.error(.upgradeRequired)]
            ) { _, _ in
                throw HTTPError(
                    .upgradeRequired, "upgrade_required", "this is a WebSocket endpoint; upgrade with subprotocol patchbay.v1")
            },
        ]
    }

    /// `/openapi.json`, which describes these routes and itself.
    static func document(of routes: [Route], version: String) -> Route {
        let outcomes = [RouteOutcome.json(.map(of: .anything))]
        func route(_ response: HTTPServerResponse) -> Route {
            Route(.get, "/openapi.json", "This document", access: .open, responses: outcomes) { _, _ in response }
        }
        let document = OpenAPI.document(of: routes + [route(HTTPServerResponse(status: .ok))], version: version)
        let body = (try? JSON.encode(document, names: .asDeclared)) ?? []
        return route(HTTPServerResponse(status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-cache"], body: body))
    }
}
