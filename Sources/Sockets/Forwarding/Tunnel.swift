internal import Wire

/// One of the two connections of a tunnel: that of a client, or the one to the node that serves it.
///
/// Bytes received on one connection are written to the other at once. While that is congested, nothing more is read, so that a direction
/// holds at most the bytes of one read. WebSocket frames are not parsed: the home checks them, and detects silent clients by pings.
///
/// The end of one side is passed on after everything before it. The other side then has `endSpan` to end. A broken connection breaks the
/// other one, so that the client resumes.
@safe final class TunnelEnd {
    let name: String
    private unowned(unsafe) let loop: Loop
    private let isOfClient: Bool
    /// Not retained: each connection holds its own end, and a connection's end is reported before it is released.
    private let edge: Unmanaged<EdgeConnection>
    /// The other connection; nil once the tunnel is over.
    private var peer: Unmanaged<EdgeConnection>?
    private var other: TunnelEnd?
    private var hasInputEnded = false
    private var output = Output.open

    private enum Output {
        case open
        /// Unsent bytes leave first.
        case ending
        case ended
    }

    /// How long a side may take for its end once the other has ended.
    private static let endSpan: Duration = .seconds(5)

    private init(_ edge: EdgeConnection, _ name: String, isOfClient: Bool) {
        self.name = name
        unsafe loop = unsafe edge.loop
        unsafe self.edge = unsafe Unmanaged.passUnretained(edge)
        self.isOfClient = isOfClient
    }

    /// Makes a tunnel of a client's connection, which has been sent its upgrade, and of one to another node, which has upgraded.
    static func join(_ client: EdgeConnection, _ home: EdgeConnection, _ name: String) {
        let (outer, inner) = (TunnelEnd(client, name, isOfClient: true), TunnelEnd(home, name, isOfClient: false))
        (outer.other, inner.other) = (inner, outer)
        unsafe (outer.peer, inner.peer) = (inner.edge, outer.edge)
        let loop = unsafe outer.loop
        loop.counters.upgradesForwarded += 1
        loop.counters.tunnelsOpen += 1
        home.begin(inner)
        client.begin(outer)
        outer.streamChanged()
        // The response and the first frames may be more than the client takes.
        if client.isCongested { home.setReading(false) }
    }

    /// One of the two streams was replaced.
    func streamChanged() {
        guard let other else { return }
        for (end, peer) in [(self, other), (other, self)] {
            unsafe end.edge._withUnsafeGuaranteedRef { edge in unsafe edge.setHints(of: end, to: peer.edge.takeUnretainedValue()) }
        }
    }

    // MARK: Events

    func receive(_ content: UnsafeMutableRawBufferPointer) {
        guard let peer = unsafe peer, unsafe !content.isEmpty else { return }
        if isOfClient {
            unsafe loop.counters.tunnelBytesIn += UInt64(content.count)
        } else {
            unsafe loop.counters.tunnelBytesOut += UInt64(content.count)
        }
        let isCongested = unsafe peer._withUnsafeGuaranteedRef { peer in
            unsafe peer.write(UnsafeRawBufferPointer(content))
            return peer.isCongested
        }
        if isCongested { unsafe edge._withUnsafeGuaranteedRef { $0.setReading(false) } }
    }

    /// Everything that was written has left.
    func becameWritable() {
        if output == .ending { endOutput() }
        unsafe peer?._withUnsafeGuaranteedRef { $0.setReading(true) }
    }

    /// The peer of this connection has ended its side.
    func inputEnded() {
        guard let other, !hasInputEnded else { return }
        hasInputEnded = true
        other.inputOfOtherEnded()
        finish()
    }

    private func inputOfOtherEnded() {
        unsafe edge._withUnsafeGuaranteedRef { edge in
            edge.endContent()
            edge.setDeadline(after: Self.endSpan)
            output = .ending
            if !edge.isCongested { endOutput() }
        }
    }

    private func endOutput() {
        output = .ended
        unsafe edge._withUnsafeGuaranteedRef { $0.tcp.endWriting() }
        finish()
    }

    /// Closes both connections once both sides have ended.
    private func finish() {
        guard let other, hasInputEnded, other.hasInputEnded, output == .ended, other.output == .ended else { return }
        for end in [self, other] { unsafe end.edge._withUnsafeGuaranteedRef { $0.fail() } }
    }

    /// This connection has ended.
    func ended() {
        guard let other, let peer = unsafe peer else { return }
        (self.other, other.other) = (nil, nil)
        unsafe (self.peer, other.peer) = (nil, nil)
        unsafe loop.counters.tunnelsOpen -= 1
        unsafe peer._withUnsafeGuaranteedRef { peer in
            // After an orderly end only input is left, which has no receiver. A reset might cost the client what it was sent last.
            if hasInputEnded { peer.end(within: Self.endSpan) } else { peer.fail() }
        }
    }
}
