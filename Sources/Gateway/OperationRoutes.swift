internal import Backend
internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Wire

/// What operations asks for: health, metrics, and the document of all routes. Open to everybody who reaches the port.
enum OperationRoutes {
    static func routes(_ desk: RoomService, _ state: GatewayState, _ metrics: MetricsBoard, fastPath: RecordLayerState = .notLinked) -> [Route] {
        [
            Route(.get, "/healthz", "Whether the process serves", access: .open, responses: [.content("text/plain")]) { _, _ in
                HTTPServerResponse(text: "ok\n")
            },
            Route(
                .get, "/readyz", "Whether newcomers are let in", access: .open,
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
                await desk.publishCounters()
                let text = PrometheusText(shards: metrics.snapshot, draining: state.phase >= .draining, fastPath: fastPath).text
                return HTTPServerResponse(text: text, type: "text/plain; version=0.0.4; charset=utf-8")
            },
            Route(
                .get, "/v1/rtc", "The WebSocket that rooms are joined by (PROTOCOL section 2)", access: .open,
                responses: [.error(.upgradeRequired)]
            ) { _, _ in
                throw HTTPError(
                    .upgradeRequired, "upgrade_required", "this address is a WebSocket's; upgrade with subprotocol patchbay.v1")
            },
        ]
    }

    /// `/openapi.json`, of these routes and of itself.
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
