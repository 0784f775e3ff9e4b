package import Wire

/// The control frames that a connection has to send, and the close of its peer (RFC 6455 section 5.5).
struct ControlFrames {
    /// The payload of the last ping that was not answered yet.
    var pong: [UInt8]?
    /// Of this side's close. Set once, by the first close.
    var reason: CloseReason?
    /// This side's CLOSE frame has been written.
    var isCloseWritten = false
    /// The code of the peer's CLOSE frame.
    var peerCode: UInt16?

    mutating func takePong() -> [UInt8]? {
        defer { pong = nil }
        return pong
    }
}

// MARK: Pongs and CLOSE frames

extension Connection {
    /// Of several pings before the socket takes a pong, only the last is answered (RFC 6455 section 5.5.3).
    func owePong(_ payload: [UInt8]) {
        guard phase == .open else { return }
        control.pong = payload
        unsafe loop.flushAtTurnEnd(self)
    }

    /// Writes the pong and the CLOSE frame that are due, once everything before them has left.
    func writeControl() {
        guard control.pong != nil || (control.reason != nil && !control.isCloseWritten), !isCongested else { return }
        if phase == .open, let payload = control.takePong() {
            _ = unsafe payload.withUnsafeBytes { unsafe write(copying: $0, .pong, .now) }
        }
        if control.reason != nil { writeClose() }
    }

    /// Writes the CLOSE frame: with the reason of this side, otherwise with code and reason of the peer's (RFC 6455 section 5.5.1).
    private func writeClose() {
        guard !control.isCloseWritten else { return }
        control.isCloseWritten = true
        flushDeferred()
        let payload = unsafe control.reason.map { WebSocketFramer.closePayload($0.code, $0.phrase) } ?? framer.receivedClosePayload
        _ = unsafe payload.withUnsafeBytes { unsafe writeNow(frame(.close, loop.scratch.copy($0), $0.count)) }
    }
}

// MARK: The closing handshake

extension Connection {
    /// Time for what was written before a close, and for the peer's CLOSE frame. A peer on a slow line needs seconds for a full send buffer.
    private static let closeSpan: Duration = .seconds(4)
    /// How long a peer may take to end its side, after the closing handshake or a violation.
    private static let lingerSpan: Duration = .milliseconds(500)

    /// Closes with a code after what has been written so far, at once or within `closeSpan` if the peer does not read.
    /// Only the first reason counts.
    package func close(_ reason: CloseReason) {
        guard phase != .closed, control.reason == nil else { return }
        control.reason = reason
        guard let edge else { return }
        phase = .closing
        edge.setDeadline(after: Self.closeSpan)
        unsafe loop.flushAtTurnEnd(self)
    }

    /// Ends the connection without a CLOSE frame, as a broken network would.
    package func abort() {
        edge?.fail()
    }

    /// The peer has violated the protocol. The messages before it have been delivered.
    func refuse(_ reason: CloseReason) {
        guard let edge else { return }
        if control.reason == nil {
            unsafe loop.delegate.refused(reason, on: self)
            control.reason = reason
        }
        phase = .closing
        writeClose()
        edge.end(within: Self.lingerSpan)
    }

    /// The closing handshake is answered if it is the peer's, and done in any case.
    func peerClosed(_ code: UInt16) {
        guard let edge else { return }
        control.peerCode = code
        phase = .closing
        writeClose()
        edge.end(within: Self.lingerSpan)
    }

    /// A peer that has ended its side may not be reading either.
    func inputEnded() {
        edge?.end(within: Self.lingerSpan)
    }

    /// The peer has not taken part in the closing handshake in time.
    func closeExpired() {
        if control.reason != nil { writeClose() }
        edge?.end(within: Self.lingerSpan)
    }
}
