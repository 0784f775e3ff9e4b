internal import Sockets
internal import Wire

/// An HTTPS request on its way to the loop's thread.
struct LoopCall: Sendable {
    typealias Answer = HTTPCall.Answer
    typealias Completion = CheckedContinuation<Result<Answer, ConnectError>, Never>

    var method: String
    var address: GatewayAddress
    var path: String
    var token: String
    var body: [UInt8]
    var timeout: Duration

    var endpoint: Endpoint {
        Endpoint(host: address.host, port: address.port, path: path, authorization: "Bearer \(token)")
    }
}

/// Requests at work, on the loop's thread: each gets exactly one answer, be it that the time is over.
final class LoopCalls {
    private struct Running {
        let call: HTTPCall
        let deadline: Instant
        let completion: LoopCall.Completion
        let address: GatewayAddress
    }

    private var running: [Int: Running] = [:]
    private var lastID = 0

    var deadline: Instant? { running.values.lazy.map(\.deadline).min() }

    func start(_ call: LoopCall, on loop: Loop, _ completion: LoopCall.Completion) {
        lastID += 1
        let id = lastID
        let request = HTTPCall(call.method, call.endpoint, body: call.body) { [unowned self] result in
            guard let done = running.removeValue(forKey: id) else { return }
            done.completion.resume(returning: result.mapError { ConnectError($0, at: done.address) })
        }
        running[id] = Running(call: request, deadline: loop.now + call.timeout, completion: completion, address: call.address)
        loop.send(request)
    }

    func tick(at now: Instant) {
        for (id, late) in running where late.deadline <= now {
            running[id] = nil
            late.call.cancel()
            let place = "\(late.address.host) port \(late.address.port)"
            late.completion.resume(returning: .failure(ConnectError(.timeout, "no answer from \(place) in time")))
        }
    }
}
