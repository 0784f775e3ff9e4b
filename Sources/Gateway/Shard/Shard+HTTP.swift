internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Wire

extension HTTPError {
    static var lineEndInPath: HTTPError { HTTPError(.badRequest, "invalid_path", "a path or query has no line ends, encoded ones neither") }
}

/// HTTP on the same port: a shard reads requests and writes answers. What happens in between happens elsewhere (`Router`), and comes back
/// through the mailbox.
extension Shard {
    func handle(_ exchange: HTTPExchange) {
        let question = HTTPServerRequest(exchange, at: loop.exactNow)
        let number: Int
        do throws(HTTPError) {
            try check(exchange)
            number = try openRequests.add(exchange, at: question.receivedAt)
        } catch {
            var response = HTTPServerResponse(error)
            response.addCommonFields(for: question, common.origins)
            count(response, route: nil, since: question.receivedAt)
            return exchange.respond(response)
        }
        let found = common.router.find(question)
        Task(executorPreference: found.route?.executor) { [router = common.router, mailbox] in
            mailbox.post(.respond(await router.answer(question, by: found), number: number))
        }
    }

    /// The answer to a request, whose client may have gone.
    func respond(_ answer: RoutedResponse, toRequest number: Int) {
        guard let request = openRequests.take(number) else { return }
        count(answer.response, route: answer.route, since: request.receivedAt)
        request.exchange.respond(answer.response)
    }

    private func check(_ exchange: HTTPExchange) throws(HTTPError) {
        guard exchange.isSecure else {
            throw HTTPError(.badRequest, "tls_required", "this port speaks TLS only; use https://")
        }
        switch exchange.fault {
        case nil: return
        case .bodyInChunks: throw HTTPError(.lengthRequired, "length_required", "send the body with a Content-Length, not in chunks")
        case .bodyUnasked:
            throw HTTPError(.badRequest, "pipelined_body", "wait for the answer before a request with a body, or send it elsewhere")
        case .bodyTooBig: throw HTTPError(.contentTooLarge, "body_too_large", "a body has at most 1 MiB")
        case .bodyTooSlow: throw HTTPError(.requestTimeout, "body_too_slow", "the body took too long; send it again")
        case .noRoom: throw OpenRequests.tooMany
        case .pathCutOff: throw .lineEndInPath
        }
    }

    private func count(_ response: HTTPServerResponse, route: String?, since start: Instant) {
        if let code = response.errorCode { counters.httpRefused[code, default: 0] += 1 }
        counters.http.count(route: route, status: response.status.code, seconds: Double((loop.exactNow - start).inNanoseconds) / 1e9)
    }
}
