internal import Engine
internal import Foundation
internal import HTTPTypes
internal import Sockets
internal import Wire

/// Routes on the same port: health, metrics, and the administration of rooms.
extension Shard {
    func handle(_ exchange: HTTPExchange) {
        do throws(Refusal) {
            exchange.respond(try answer(exchange))
        } catch {
            counters.httpRefused[error.code, default: 0] += 1
            exchange.respond(Response.error(error.status, error.code, error.message))
        }
    }

    private func answer(_ exchange: HTTPExchange) throws(Refusal) -> Response {
        guard exchange.isSecure else {
            throw Refusal(.badRequest, "tls_required", "this port speaks TLS only; use https://")
        }
        switch exchange.fault {
        case .bodyInChunks: throw Refusal(.lengthRequired, "length_required", "send the body with a Content-Length, not in chunks")
        case .bodyTooBig: throw Refusal(.contentTooLarge, "body_too_large", "a body has at most 1 MiB")
        case nil: break
        }
        let path = exchange.path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        switch path {
        case ["healthz"]: return try reading(exchange) { Response(text: "ok\n") }
        case ["readyz"]: return try reading(exchange) { readiness }
        case ["metrics"]: return try reading(exchange) { metricsText }
        case ["v1", "rtc"]:
            throw Refusal(.upgradeRequired, "upgrade_required", "this address is a WebSocket's; upgrade with subprotocol patchbay.v1")
        default:
            guard path.starts(with: ["v1", "rooms"]) else { throw Refusal(.notFound, "not_found", "there is nothing at this path") }
            return try administer(exchange, Array(path.dropFirst(2)))
        }
    }

    private func reading(_ exchange: HTTPExchange, _ body: () -> Response) throws(Refusal) -> Response {
        guard exchange.method == .get || exchange.method == .head else {
            throw Refusal(.methodNotAllowed, "method_not_allowed", "only GET and HEAD here")
        }
        return body()
    }

    private var readiness: Response {
        drain == nil
            ? Response(text: "ready\n")
            : Response.error(.serviceUnavailable, "draining", "this gateway is about to stop; connect to another one")
    }

    private var metricsText: Response {
        publishMetrics()
        let text = PrometheusText(shards: common.metrics.snapshot, draining: drain != nil).text
        return Response(text: text, type: "text/plain; version=0.0.4; charset=utf-8")
    }
}
