import Sockets
import Wire

/// Connecting, and coming back after a loss, as the client libraries do.
extension ClusterLoad {
    /// How long the gateway keeps a participant whose connection was lost.
    private static let resumeWindow = 20 * second
    /// How long a ping may stay unanswered.
    private static let pongTimeout = 4 * second
    /// How long the first message may take. Before the upgrade, the event loop gives up earlier, which it can do without a trace.
    private static let attemptTimeout = UInt64(2 * handshakeSecondsMax + 2) * second

    /// Called four times a second for each caller.
    func check(_ caller: Caller, _ now: UInt64) {
        switch caller.phase {
        case .connecting(let since) where now - since > Self.attemptTimeout: drop(caller, "no hello", now)
        case .joined:
            if let since = caller.unansweredSince, now - since > Self.pongTimeout { drop(caller, "no answer to a ping for 4 s", now) }
        case .waiting, .connecting, .left: break
        }
        if caller.lostAt > 0, now - caller.lostAt > Self.resumeWindow { giveUp(caller, "no resume within 20 s") }
    }

    func connectDue(_ now: UInt64) {
        for caller in callers {
            if case .waiting(let until) = caller.phase, until <= now { connect(caller, now) }
        }
    }

    private func connect(_ caller: Caller, _ now: UInt64) {
        let node = nodes[caller.entry]
        caller.phase = .connecting(since: now)
        caller.hasSkippedEvents = false
        connecting = caller.index
        let connection = loop.connect(
            to: Endpoint(host: node.host, port: node.port, path: caller.path, authorization: caller.authorization, usesTLS: node.usesTLS))
        connecting = -1
        // It may have failed already.
        guard case .connecting = caller.phase else { return }
        connection.slot = caller.index
        caller.connection = connection
    }

    func ping(_ caller: Caller, _ now: UInt64) {
        guard caller.isJoined else { return }
        caller.connection?.write(text: Self.ping)
        if caller.unansweredSince == nil { caller.unansweredSince = now }
    }

    private static let ping = OutgoingRequest(.ping(0)).bytes

    /// Gives up a connection that does not answer.
    private func drop(_ caller: Caller, _ reason: String, _ now: UInt64) {
        timeline.note(reason)
        let connection = caller.connection
        lost(caller, now)
        connection?.abort()
    }

    private func lost(_ caller: Caller, _ now: UInt64, isAsked: Bool = false) {
        if caller.isJoined { caller.lostAt = now }
        caller.backOff(at: now, usable: nodes.map { !avoided.contains($0.name) }, isAsked: isAsked)
    }

    /// The call is lost. A new one begins in its place, so that the load stays the same.
    func giveUp(_ caller: Caller, _ reason: String) {
        timeline.note("lost: \(reason)")
        let other = callers[caller.index ^ 1]
        if !caller.isGivenUp, !other.isGivenUp { timeline.counts.callsLost += 1 }
        caller.isGivenUp = true
        caller.lostAt = 0
        caller.forget()
    }

    func leave(_ caller: Caller) {
        caller.phase = .left
        caller.connection?.write(text: OutgoingRequest(.leave(reason: nil)).bytes)
    }

    // MARK: SocketDelegate

    func closed(_ connection: Connection, _ end: ConnectionEnd) {
        guard let caller = caller(of: connection), !caller.hasLeft else { return }
        let now = clock
        let code = connection.peerCloseCode
        timeline.note(code.map { "closed with \($0)" } ?? "broken")
        lost(caller, now, isAsked: code == CloseReason.moved.code)
        // Proxies close with 1001 and 1011 to 1014 when they lose their own connection.
        guard let code, !(4000...4099).contains(code), code != 1001, !(1011...1014).contains(code) else { return }
        giveUp(caller, "closed with \(code)")
    }

    func failed(_ connection: Connection, _ error: ConnectionFailure) {
        guard let caller = caller(of: connection) else { return }
        timeline.note("refused: \(error.status.map { "\($0) " } ?? "")\(error.code ?? error.message)")
        lost(caller, clock)
        guard let status = error.status, status < 500, status != 429 else { return }
        giveUp(caller, "refused with \(status) \(error.code ?? "")")
    }
}
