internal import NIOCore
internal import NIOPosix

/// TCP options for media and the kernel's send statistics.
///
/// A conversation never has enough packets in flight for fast retransmission, so lost packets are repaired by timeouts. On Linux those are
/// shortened; other systems keep their defaults. `TCP_NODELAY` is set everywhere.
enum SocketTuning {
    /// Unacknowledged bytes in the kernel beyond which frames wait in `SendQueue`, where they can still be dropped.
    static let unacknowledgedBytesMax = 24 * 1_024

    #if os(Linux)
        /// `include/uapi/linux/tcp.h`. The last two exist since Linux 6.15; an older kernel refuses them, which is harmless.
        private static let options: [(name: CInt, value: SocketOptionValue)] = [
            // TCP_THIN_LINEAR_TIMEOUTS: no doubling of the timeout for streams with few packets in flight.
            (16, 1),
            // TCP_RTO_MIN_US: minimum retransmission timeout, 20 ms instead of 200 ms.
            (45, 20_000),
            // TCP_RTO_MAX_MS: maximum retransmission timeout, 1 s: how late a retry comes after an outage.
            (44, 1_000),
        ]

        static func apply(to channel: any NIOCore.Channel) {
            for option in options {
                channel.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: option.name)), value: option.value).whenFailure { _ in }
            }
        }

        /// Bytes that the peer has not acknowledged, sent or not; nil if the kernel does not report it. On the channel's event loop.
        static func unacknowledgedBytes(of channel: any NIOCore.Channel) -> Int? {
            guard let provider = channel as? any SocketOptionProvider else { return nil }
            let info: EventLoopFuture<TCPInfo> = provider.unsafeGetSocketOption(level: .tcp, name: .tcp_info)
            var bytes: Int?
            // On the event loop the future is complete already, and the closure runs at once.
            info.assumeIsolated().whenSuccess { bytes = $0.unacknowledgedBytes }
            return bytes
        }

        /// `struct tcp_info` of Linux up to `tcpi_bytes_retrans` (Linux 4.19). The C library's declaration ends before the byte counters.
        private struct TCPInfo: Sendable {
            private var state: UInt64 = 0
            private var words8: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0, 0, 0, 0)
            private var words40: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0, 0, 0, 0)
            private var words72: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0, 0, 0, 0)
            private var pacingRate: UInt64 = 0
            private var maxPacingRate: UInt64 = 0
            private var bytesAcked: UInt64 = 0
            private var bytesReceived: UInt64 = 0
            private var segments: UInt64 = 0
            private var notSentBytes: UInt32 = 0
            private var words148: (UInt32, UInt32, UInt32) = (0, 0, 0)
            private var rates: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            private var delivered: UInt64 = 0
            private var bytesSent: UInt64 = 0
            private var bytesRetransmitted: UInt64 = 0

            var unacknowledgedBytes: Int {
                Int(notSentBytes) + max(Int(bytesSent) - Int(bytesRetransmitted) - Int(bytesAcked), 0)
            }
        }
    #elseif canImport(Darwin)
        static func apply(to channel: any NIOCore.Channel) {}

        /// Bytes that the peer has not acknowledged, sent or not; nil if the kernel does not report it. On the channel's event loop.
        static func unacknowledgedBytes(of channel: any NIOCore.Channel) -> Int? {
            guard let provider = channel as? any SocketOptionProvider else { return nil }
            var bytes: Int?
            provider.getTCPConnectionInfo().assumeIsolated().whenSuccess { bytes = Int($0.tcpi_snd_sbbytes) }
            return bytes
        }
    #else
        static func apply(to channel: any NIOCore.Channel) {}
        static func unacknowledgedBytes(of channel: any NIOCore.Channel) -> Int? { nil }
    #endif
}
