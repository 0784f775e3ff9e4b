internal import Backend
internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Wire

/// HTTP on the port of the WebSockets: checks requests, passes them to the router on another executor, and sends the responses that come
/// back through the mailbox.
final class HTTPFrontEnd {
    private let context: ShardContext
    private var openRequests = OpenRequests()

    init(_ context: ShardContext) {
        self.context = context
    }

    var isIdle: Bool { openRequests.isEmpty }

    func handle(_ exchange: HTTPExchange) {
        let request = HTTPServerRequest(exchange.request, body: exchange.body, at: context.loop.exactNow)
        let number: Int
        do throws(HTTPError) {
            try check(exchange)
            number = try openRequests.add(exchange, at: request.receivedAt)
        } catch {
            var response = HTTPServerResponse(error, to: request)
            if error.status == .upgradeRequired { response.fields[.secWebSocketVersion] = "13" }
            response.addCommonFields(for: request, context.gateway.origins)
            count(response, route: nil, of: exchange, since: request.receivedAt)
            return exchange.respond(response)
        }
        let gateway = context.gateway
        let router = gateway.router(of: exchange.request.source.entrance)
        let found = router.find(request)
        let received = exchange.request
        Task(executorPreference: found.route?.executor) { [mailbox = context.mailbox] in
            var routed = await ForwardedRequest.$isCurrent.withValue(received.hops > 0) { await router.answer(request, by: found) }
            if let home = routed.response.fields[.patchbayElsewhere], received.hops == 0 {
                routed.response.fields[.patchbayElsewhere] = nil
                routed.response = await gateway.forward(received, body: request.body, toNode: home) ?? routed.response
            }
            mailbox.post(.respond(routed, number: number))
        }
    }

    /// Sends the response to a request, if its client is still there.
    func respond(_ routed: RoutedResponse, toRequest number: Int) {
        guard let request = openRequests.take(number) else { return }
        count(routed.response, route: routed.route, of: request.exchange, since: request.receivedAt)
        request.exchange.respond(routed.response)
    }

    private func check(_ exchange: HTTPExchange) throws(HTTPError) {
        guard exchange.request.isSecure else {
            throw HTTPError(.tlsRequired, "this port speaks TLS only; use https://")
        }
        guard exchange.request.source.isTrusted else { throw .untrustedProxy }
        switch exchange.fault {
        case nil: return
        case .bodyInChunks: throw HTTPError(.lengthRequired, "send the body with a Content-Length, not in chunks")
        case .bodyTooBig: throw HTTPError(.bodyTooLarge, "a body has at most 1 MiB")
        case .bodyTooSlow: throw HTTPError(.bodyTooSlow, "the body took too long; send it again")
        case .noRoom: throw OpenRequests.tooMany
        case .malformed(let fault): throw HTTPError(fault)
        }
    }

    private func count(_ response: HTTPServerResponse, route: String?, of exchange: HTTPExchange, since start: Instant) {
        if let code = response.errorCode {
            context.counters.httpRefused[code, default: 0] += 1
            if Self.statusesLogged.contains(response.status.code) { log(response, code, route, exchange) }
        }
        let seconds = Double((context.loop.exactNow - start).inNanoseconds) / 1e9
        context.counters.http.count(route: route, status: response.status.code, seconds: seconds)
    }

    /// Refusals for lack of authorization or capacity. Other errors concern only their client.
    private static let statusesLogged: Set<Int> = [401, 403, 429, 503]

    private func log(_ response: HTTPServerResponse, _ code: String, _ route: String?, _ exchange: HTTPExchange) {
        context.gateway.operatorLog.refused(from: exchange.peerAddress, at: context.now) {
            OperatorLog.Refusal(
                reason: code, status: response.status.code, address: exchange.peerAddress, route: route ?? "",
                request: RequestContext(id: response.fields[.requestID], traceparent: exchange.request.head.fields[.traceparent]))
        }
    }
}

extension GatewayContext {
    fileprivate func router(of entrance: Entrance) -> Router {
        switch entrance {
        case .operations: operationsRouter
        case .nodes: nodesRouter
        default: router
        }
    }
}

extension HTTPError {
    fileprivate init(_ fault: RequestFault) {
        switch fault {
        case .encoding, .dotSegment: self.init(.invalidPath, fault.explanation)
        case .unknownMethod: self.init(.unknownMethod, fault.explanation)
        case .otherUpgrade: self.init(.upgradeRefused, fault.explanation)
        case .handshake: self.init(.badUpgrade, fault.explanation)
        case .webSocketVersion: self.init(.websocketVersion, fault.explanation)
        default: self.init(.badRequest, fault.explanation)
        }
    }

    static var untrustedProxy: HTTPError {
        HTTPError(
            .untrustedProxy, "this port is for trusted proxies (`trusted_proxies`); clients connect to the port with TLS")
    }
}
