internal import Engine
internal import Foundation
internal import HTTPTypes
internal import Sockets
internal import Wire

/// Routes on the same port: health, metrics, and the administration of rooms.
extension Shard {
    func handle(_ exchange: HTTPExchange) {
        do throws(Refusal) {
            try serve(exchange)
        } catch {
            counters.httpRefused[error.code, default: 0] += 1
            exchange.respond(Response(error))
        }
    }

    private func serve(_ exchange: HTTPExchange) throws(Refusal) {
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
        case ["healthz"]: exchange.respond(try reading(exchange) { Response(text: "ok\n") })
        case ["readyz"]: exchange.respond(try reading(exchange) { readiness })
        case ["metrics"]:
            _ = try reading(exchange) { Response(text: "") }
            ask(.counters, of: Array(common.mailboxes.indices), for: exchange) { [unowned self] _ in metricsText }
        case ["v1", "rtc"]:
            throw Refusal(.upgradeRequired, "upgrade_required", "this address is a WebSocket's; upgrade with subprotocol patchbay.v1")
        default:
            guard path.starts(with: ["v1", "rooms"]) else { throw Refusal(.notFound, "not_found", "there is nothing at this path") }
            try administer(exchange, Array(path.dropFirst(2)))
        }
    }

    /// Asks these shards, this one perhaps among them, and responds when all have answered.
    func ask(_ question: Question, of shards: [Int], for exchange: HTTPExchange, finish: @escaping ([Answer]) -> Response) {
        let number = questions.add(exchange, of: shards.count, finish: finish)
        for shard in shards where shard != index { post(.question(question, number: number, from: index), to: shard) }
        if shards.contains(index) { take(answer(question), toQuestion: number) }
    }

    func take(_ answer: Answer, toQuestion number: Int) {
        questions.take(answer, toQuestion: number)
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
        let text = PrometheusText(shards: common.metrics.snapshot, draining: drain != nil).text
        return Response(text: text, type: "text/plain; version=0.0.4; charset=utf-8")
    }
}
