internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOWebSocket

/// The WebSocket of one realtime session: upgrade, `session.update`, events into a queue, one end with a reason.
///
/// Created and used on the channel's event loop. As the last handler of the pipeline it is retained until the channel has closed.
final class RealtimeSocket: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private enum State {
        /// Until `session.created`, then until `session.updated`.
        case connecting
        case updating(RealtimeDialect)
        case open, closed
    }

    /// A session that the server has accepted.
    struct Opened: Sendable {
        let channel: any Channel
        let dialect: RealtimeDialect
    }

    /// The longest message, in bytes; audio of 15 s.
    static let messageBytesMax = 1 << 20
    private static let fragmentsMax = 1_024
    /// Unsent bytes beyond which the session ends: 98 s of audio. A user's speech, up to 75 s, is sent at once before a response.
    static let unsentBytesMax = 6 << 20
    /// A ping is sent this often; a server that sends nothing for three intervals is lost.
    private static let pingInterval = TimeAmount.seconds(10)

    private let configuration: RealtimeConfiguration
    private let server: String
    private let queue: RealtimeEventQueue
    /// Succeeds once the server accepted the session.
    private let opened: EventLoopPromise<Opened>
    private var decoder = RealtimeEventDecoder()
    private var state = State.connecting
    private var silentIntervals = 0
    private var pings: RepeatedTask?

    init(_ configuration: RealtimeConfiguration, server: String, queue: RealtimeEventQueue, opened: EventLoopPromise<Opened>) {
        self.configuration = configuration
        self.server = server
        self.queue = queue
        self.opened = opened
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let (context, this) = (context.loopBound, NIOLoopBound(self, eventLoop: context.eventLoop))
        pings = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.pingInterval, delay: Self.pingInterval) { _ in
            this.value.ping(context.value)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        pings?.cancel()
    }

    private func ping(_ context: ChannelHandlerContext) {
        silentIntervals += 1
        guard silentIntervals <= 3 else { return fail(ProviderError(.timeout, "\(server) no longer answers"), context) }
        send(.ping, ByteBuffer(), context)
    }

    // MARK: Messages

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        silentIntervals = 0
        let frame = Self.unwrapInboundIn(data)
        switch frame.opcode {
        case .text:
            if case .closed = state { return }
            do throws(ProviderError) {
                for message in try decoder.decode(Array(buffer: frame.data)) { try receive(message, context) }
            } catch {
                fail(error, context)
            }
        case .ping: send(.pong, frame.data, context)
        case .connectionClose:
            send(.connectionClose, frame.data, context)
            fail(ProviderError(.disconnected, "\(server) ended the realtime session"), context)
        default: break
        }
    }

    private func receive(_ message: RealtimeEventDecoder.Message, _ context: ChannelHandlerContext) throws(ProviderError) {
        switch (message, state) {
        case (.sessionCreated(let dialect), .connecting):
            state = .updating(dialect)
            send(.text, ByteBuffer(bytes: RealtimeRequest.update(configuration, dialect)), context)
        case (.sessionUpdated, .updating(let dialect)):
            state = .open
            opened.succeed(Opened(channel: context.channel, dialect: dialect))
        case (.event(.error(let error)), .connecting), (.event(.error(let error)), .updating): throw error
        case (.event(let event), .open):
            guard queue.append(event) else {
                throw ProviderError(.invalidResponse, "the realtime session sends more than is read")
            }
        default: break
        }
    }

    private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(NIOAny(WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)), promise: nil)
    }

    /// From any thread.
    static func send(_ opcode: WebSocketOpcode, _ bytes: [UInt8], to channel: any Channel) -> EventLoopFuture<Void> {
        channel.writeAndFlush(WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: ByteBuffer(bytes: bytes)))
    }

    // MARK: The end

    private func fail(_ error: ProviderError, _ context: ChannelHandlerContext) {
        end(error)
        context.close(promise: nil)
    }

    private func end(_ error: ProviderError) {
        state = .closed
        opened.fail(error)
        queue.finish(throwing: error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(ProviderError(.disconnected, "\(server) closed the connection of the realtime session"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength, NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge:
            fail(ProviderError(.invalidResponse, "\(server) sent a message longer than \(Self.messageBytesMax) bytes"), context)
        case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error:
            fail(ProviderError(.invalidResponse, "\(server) violates the WebSocket protocol"), context)
        // `channelInactive` follows.
        case NIOSSLError.uncleanShutdown: break
        default: fail(ProviderFailure(error, at: server)?.error ?? ProviderError(.disconnected, "\(server) was lost"), context)
        }
    }
}

/// Connecting.
extension RealtimeSocket {
    /// Where a session connects to.
    struct Target: Sendable {
        var host: String
        var port: Int
        var isEncrypted: Bool
        var head: HTTPRequestHead
    }

    private static let tls = Result { try NIOSSLContext(configuration: .makeClientConfiguration()) }

    /// - Throws: `ProviderFailure`, `CancellationError`, and errors of SwiftNIO.
    static func open(
        _ target: Target, _ configuration: RealtimeConfiguration, server: String, queue: RealtimeEventQueue, timeout: TimeAmount
    ) async throws -> Opened {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        let opened = eventLoop.makePromise(of: Opened.self)
        let connection = ClientBootstrap(group: eventLoop)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: .init(low: unsentBytesMax / 4, high: unsentBytesMax))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try configure(channel, target, server: server, opened: opened) {
                        RealtimeSocket(configuration, server: server, queue: queue, opened: opened)
                    }
                }
            }
            .connect(host: target.host, port: target.port)
        connection.cascadeFailure(to: opened)
        let timer = eventLoop.scheduleTask(in: timeout) { opened.fail(ChannelError.connectTimeout(timeout)) }
        opened.futureResult.whenComplete { _ in timer.cancel() }
        opened.futureResult.whenFailure { _ in connection.whenSuccess { $0.close(promise: nil) } }
        return try await withTaskCancellationHandler {
            try await opened.futureResult.get()
        } onCancel: {
            opened.fail(CancellationError())
        }
    }

    /// - Parameter opened: fails if the upgrade does.
    private static func configure(
        _ channel: any Channel, _ target: Target, server: String, opened: EventLoopPromise<Opened>,
        makeSocket: @escaping @Sendable () -> RealtimeSocket
    ) throws {
        let upgrader = NIOTypedWebSocketClientUpgrader<Void>(maxFrameSize: messageBytesMax, enableAutomaticErrorHandling: false) {
            channel, _ in
            channel.eventLoop.makeCompletedFuture {
                let aggregator = NIOWebSocketFrameAggregator(
                    minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: fragmentsMax, maxAccumulatedFrameSize: messageBytesMax)
                try channel.pipeline.syncOperations.addHandlers(aggregator, makeSocket())
            }
        }
        let upgrade = NIOTypedHTTPClientUpgradeConfiguration<Void>(upgradeRequestHead: target.head, upgraders: [upgrader]) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(RefusedUpgrade(opened, server: server))
            }
        }
        if target.isEncrypted {
            let isNumeric = (try? SocketAddress(ipAddress: target.host, port: 0)) != nil
            let handler = try NIOSSLClientHandler(context: tls.get(), serverHostname: isNumeric ? nil : target.host)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
        var configuration = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: upgrade)
        // `session.created` may arrive together with the upgrade's response.
        configuration.leftOverBytesStrategy = .forwardBytes
        try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: configuration)
            .whenFailure { opened.fail($0) }
    }
}

/// Takes the response of a server that did not upgrade.
private final class RefusedUpgrade: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let opened: EventLoopPromise<RealtimeSocket.Opened>
    private let server: String

    init(_ opened: EventLoopPromise<RealtimeSocket.Opened>, server: String) {
        self.opened = opened
        self.server = server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = Self.unwrapInboundIn(data) else { return }
        if (200..<300).contains(head.status.code) {
            opened.fail(ProviderError(.invalidResponse, "\(server) answers without a realtime session; check base_url"))
        } else {
            opened.fail(ProviderFailure(status: Int(head.status.code), header: { head.headers.first(name: $0) }, at: server))
        }
    }
}
