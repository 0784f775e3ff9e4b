package import HTTPTypes
internal import Wire

/// A client's request for a WebSocket that waits for a decision of the loop's delegate (`SocketDelegate.hold`): its room may be at home on
/// another node, and finding that out may take a moment.
///
/// The delegate decides once, by `serve`, `refuse` or `forward`, within `hold` or later on the loop's thread. After a forward that has failed it
/// decides again, because the client has not been sent anything. Without a decision the client gets `SocketDelegate.unavailable(_:)` after
/// `LoopSettings.holdSecondsMax`.
/// Meanwhile nothing is read from the client, whose disconnect is noticed nevertheless. One that only ends its side counts as gone.
package final class HeldUpgrade {
    package let request: ReceivedRequest
    /// An object that the delegate keeps with it.
    package var context: AnyObject?
    /// It is over without a decision of the delegate: the client has left, or was refused because the decision took too long.
    package private(set) var isAbandoned = false
    private weak var phase: RequestPhase?
    private var state = State.waiting
    private var forwards = 0

    private enum State {
        case waiting
        case forwarding(Forward)
        /// `serve` comes in the next turn.
        case serving
        case settled
    }

    /// Keeps a delegate that always tries again from occupying the loop forever.
    private static let forwardsMax = 8

    init(_ request: ReceivedRequest, of phase: RequestPhase) {
        self.request = request
        self.phase = phase
    }

    var loop: Loop? { phase?.loop }

    /// The delegate has decided, and a forward has succeeded: nothing more happens to it.
    package var isSettled: Bool {
        if case .settled = state { true } else { false }
    }

    private var isUndecided: Bool {
        switch state {
        case .waiting, .forwarding: true
        case .serving, .settled: false
        }
    }

    private var mayDecide: Bool { isUndecided && phase?.hasClient == true }

    // MARK: Decisions

    /// Serves the upgrade here: `SocketDelegate.admit` follows.
    package func serve() {
        guard mayDecide else { return }
        cancelForwarding()
        state = .serving
        phase?.serveHeld()
    }

    /// Sends a response, and ends the connection.
    package func refuse(_ response: HTTPServerResponse) {
        guard mayDecide else { return }
        cancelForwarding()
        state = .settled
        phase?.refuseHeld(response)
    }

    /// Has another node serve the upgrade: forwards the request, and after its upgrade all bytes in both directions. A forward under way is
    /// cancelled.
    ///
    /// A response other than an upgrade goes to the client, unless it makes the forward fail (`ForwardFailure`). A failure is reported by
    /// `SocketDelegate.failed(_:_:)`, never within this call.
    ///
    /// - Parameters:
    ///   - endpoint: where the node listens: `host` or `address` is numeric, because resolving a name would block the loop. Its path and
    ///     authorization are not used.
    ///   - name: the node, for `Loop.endTunnels(to:)`.
    ///   - fields: are added to the request, in place of the client's of the same names.
    package func forward(to endpoint: Endpoint, name: String, adding fields: HTTPFields = [:]) {
        guard mayDecide, let phase, let loop = phase.loop else { return }
        cancelForwarding()
        forwards += 1
        guard forwards <= Self.forwardsMax else { return phase.expired() }
        let forward = Forward(self, to: endpoint, name, adding: fields)
        state = .forwarding(forward)
        forward.start(on: loop)
    }

    /// Gives up the forward under way, if there is one. Another decision must follow.
    package func cancelForwarding() {
        guard case .forwarding(let forward) = state else { return }
        state = .waiting
        forward.cancel()
    }

    // MARK: Events

    /// The delegate does not want to decide.
    func release() {
        cancelForwarding()
        state = .settled
    }

    /// The next turn has come after `serve`.
    ///
    /// - Returns: whether the upgrade is to be served now.
    func takeServing() -> Bool {
        guard case .serving = state else { return false }
        state = .settled
        return true
    }

    func failed(_ forward: Forward, _ failure: ForwardFailure, on loop: Loop) {
        guard case .forwarding(let current) = state, current === forward else { return }
        state = .waiting
        loop.counters.forwardsFailed += 1
        guard mayDecide else { return }
        unsafe loop.delegate.failed(self, failure)
    }

    /// The other node has upgraded. `response` and what follows it go to the client.
    ///
    /// - Returns: false if there is no client any more.
    func upgraded(_ forward: Forward, _ home: EdgeConnection, _ response: [UInt8]) -> Bool {
        guard case .forwarding(let current) = state, current === forward, let phase else { return false }
        state = .settled
        return phase.join(home, response, forward.name)
    }

    func received(_ response: HTTPServerResponse, from forward: Forward) {
        guard case .forwarding(let current) = state, current === forward else { return }
        refuse(response)
    }

    /// The connection has ended.
    func ended(on loop: Loop) {
        guard isUndecided else { return }
        release()
        isAbandoned = true
        unsafe loop.delegate.abandoned(self)
    }
}

/// Why a forward has failed. The client has not been sent anything yet.
package enum ForwardFailure: Error, Hashable, Sendable {
    /// No connection: refused, reset, no route, or not a numeric address.
    case unreachable(String)
    case timedOut
    /// The handshake failed, or the certificate is not that of the endpoint.
    case tls(String)
    /// 503, with the gateway's error code.
    case unavailable(code: String?)
    /// The value of the response's `Patchbay-Elsewhere`: the room is not at home there. The delegate must check it, like all input.
    case elsewhere(String)
    /// Not a response that may be sent to the client.
    case badResponse
    /// `Loop.endTunnels(to:)`.
    case ended
    /// The request was forwarded to this node by another one (`ReceivedRequest.hops`).
    case alreadyForwarded
}
