internal import CLibwebsockets
internal import Glibc

/// Options and state of a connected TCP socket.
package struct TCPSocket: Sendable {
    package let descriptor: Int32

    /// Sends small frames at once, and retransmits for a thin stream without doubling the wait each time: a conversation
    /// has never enough packets in flight for fast retransmission (Linux, `Documentation/networking/tcp-thin.rst`).
    ///
    /// The last two options shorten the effect of a lost packet and of an outage (Linux 6.15; older kernels refuse them, which is ignored).
    /// Both ends set them, because a late pong delays as much as a late frame. The kernel delays acknowledgements by at most the first of the
    /// two, so this value lets two frames of 20 ms share one.
    package func tuneForMedia() {
        set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(Int32(IPPROTO_TCP), TCP_THIN_LINEAR_TIMEOUTS, 1)
        set(Int32(IPPROTO_TCP), Self.retransmissionMicrosecondsMin, 48_000)
        set(Int32(IPPROTO_TCP), Self.retransmissionMillisecondsMax, 1_000)
    }

    /// Retransmits even sooner, for connections that receive live audio. The peer's frames are then acknowledged one by one.
    package func tuneForLiveMedia() {
        set(Int32(IPPROTO_TCP), Self.retransmissionMicrosecondsMin, 20_000)
    }

    /// `TCP_RTO_MIN_US`: the minimum by which a timeout exceeds the round trip. The default of 200 ms is too long for speech.
    private static let retransmissionMicrosecondsMin: Int32 = 45
    /// `TCP_RTO_MAX_MS`: the limit of exponential back-off, at least 1 s. After an outage of 3 s the next attempt would otherwise follow
    /// up to 3 s later.
    private static let retransmissionMillisecondsMax: Int32 = 44

    /// Sends a FIN after the bytes already written. The socket can still be read.
    func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Bytes that the peer has not acknowledged (`SIOCOUTQ`); nil if the socket is closed.
    package var unacknowledgedBytes: Int? {
        let bytes = patchbay_unacknowledged(descriptor)
        return bytes < 0 ? nil : Int(bytes)
    }

    /// The kernel's measurements of the path; nil if the socket is closed.
    package var path: TCPPath? {
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return nil }
        return TCPPath(
            roundTrip: .microseconds(Int64(info.tcpi_rtt)), roundTripVariation: .microseconds(Int64(info.tcpi_rttvar)))
    }

    /// The peer's address; nil if the socket is closed.
    var peer: IPAddress? { unsafe SocketAddress(of: descriptor) { unsafe getpeername($0, $1, $2) }?.address }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

package struct TCPPath: Sendable, Hashable {
    package var roundTrip: Duration
    package var roundTripVariation: Duration
}
