internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

#if TransportServices && canImport(Network)
    internal import NIOTransportServices
#endif

/// The event loop that drives the sockets of all rooms and call channels of this process.
///
/// One thread serves all of them: a room costs it a few microseconds per frame. The thread starts with the first connection and lives as long
/// as the process. With the package trait `TransportServices`, connections on Apple platforms use Network.framework instead of BSD sockets.
enum ClientEventLoop {
    #if TransportServices && canImport(Network)
        private static let group = NIOTSEventLoopGroup(loopCount: 1)
    #else
        private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    #endif

    static var shared: any EventLoop { group.any() }

    /// Starts a TCP connection whose pipeline `initializer` configures.
    static func connect(
        to address: GatewayAddress, on eventLoop: any EventLoop, timeout: Duration,
        initializer: @escaping @Sendable (any NIOCore.Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any NIOCore.Channel> {
        #if TransportServices && canImport(Network)
            NIOTSConnectionBootstrap(group: eventLoop)
                .connectTimeout(TimeAmount(timeout))
                .channelInitializer(initializer)
                .connect(host: address.host, port: address.port)
        #else
            // Reports `isWritable` only while nothing is buffered: live frames wait in `SendQueue`, where they can still be dropped.
            ClientBootstrap(group: eventLoop)
                .connectTimeout(TimeAmount(timeout))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelOption(.writeBufferWaterMark, value: .init(low: 1, high: 4_096))
                .channelInitializer(initializer)
                .connect(host: address.host, port: address.port)
        #endif
    }
}

/// The TLS settings of connections with the same `TLSTrust`. Loading the system's authorities is costly, so contexts are cached.
struct TLSContext: Sendable {
    private let context: NIOSSLContext

    private static let cache = Mutex<[TLSTrust: TLSContext]>([:])

    static func cached(for trust: TLSTrust) throws(ConnectError) -> TLSContext {
        if let context = cache.withLock({ $0[trust] }) { return context }
        let context = try TLSContext(trust)
        cache.withLock { $0[trust] = context }
        return context
    }

    /// - Throws: `ConnectError` of kind `setup` if a certificate file cannot be read.
    private init(_ trust: TLSTrust) throws(ConnectError) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // A peer that does not answer the close alert must not keep the socket.
        configuration.shutdownTimeout = .seconds(1)
        switch trust {
        case .system: break
        case .authority(let path):
            do {
                configuration.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(path))]
            } catch {
                throw ConnectError(
                    .setup, "cannot read the certificate authority's file \(path) (\(error)); check the path and that it is PEM")
            }
        case .anybody: configuration.certificateVerification = .none
        }
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw ConnectError(.setup, "cannot set up TLS: \(error)")
        }
    }

    /// - Parameter host: a name, or a numeric address: those are checked against the certificate's IP addresses and not sent as SNI.
    func makeHandler(host: String) throws -> NIOSSLClientHandler {
        let isNumeric = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isNumeric ? nil : host)
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .seconds(seconds) + .nanoseconds(attoseconds / 1_000_000_000)
    }
}
