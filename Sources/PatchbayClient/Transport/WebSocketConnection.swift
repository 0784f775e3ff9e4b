internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import NIOWebSocket
internal import Wire

/// One WebSocket connection over TLS (RFC 6455): upgrade, whole messages in and out, one close with a reason.
///
/// Created, used and released on `eventLoop`. After the upgrade it is the last handler of the channel's pipeline, which retains it until the
/// channel has closed. The delegate receives exactly one of `connectionFailed`, `connectionRefused` and `connectionClosed`, unless it is
/// cleared before.
final class WebSocketConnection: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private enum State {
        case connecting, open
        /// A close frame was sent.
        case closing
        case closed
    }

    /// How long the gateway may take to answer a close frame.
    private static let closeTimeout = TimeAmount.seconds(1)
    private static let fragmentsMax = 1_024
    /// A message of the gateway: `hello` names everybody in the room, and the protocol limits only what clients send.
    private static let receivedBytesMax = 16 << 20

    weak var delegate: ReconnectingSocket?
    private let eventLoop: any EventLoop
    private var state = State.connecting
    private var channel: (any NIOCore.Channel)?
    private var sentCloseReason: CloseReason?
    private var receivedCloseCode: UInt16?

    init(eventLoop: any EventLoop, delegate: ReconnectingSocket) {
        self.eventLoop = eventLoop
        self.delegate = delegate
    }

    // MARK: Connecting

    /// Connects and upgrades. The token goes into the `Authorization` header.
    func connect(to address: GatewayAddress, target: String, token: String, tls: TLSContext, timeout: Duration) {
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: target,
            headers: [
                "Host": address.hostField, "Authorization": "Bearer \(token)", "Sec-WebSocket-Protocol": ProtocolLimits.subprotocol,
            ])
        let this = NIOLoopBound(self, eventLoop: eventLoop)
        ClientEventLoop.connect(to: address, on: eventLoop, timeout: timeout) { channel in
            channel.eventLoop.makeCompletedFuture { try this.value.configure(channel, head: head, host: address.host, tls: tls) }
        }.hop(to: eventLoop).assumeIsolated().whenFailure { self.fail($0) }
    }

    private func configure(_ channel: any NIOCore.Channel, head: HTTPRequestHead, host: String, tls: TLSContext) throws {
        guard state == .connecting else { throw ChannelError.ioOnClosedChannel }
        self.channel = channel
        SocketTuning.apply(to: channel)
        let this = NIOLoopBound(self, eventLoop: eventLoop)
        let upgrader = NIOTypedWebSocketClientUpgrader<Void>(
            maxFrameSize: Self.receivedBytesMax, enableAutomaticErrorHandling: false
        ) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                let aggregator = NIOWebSocketFrameAggregator(
                    minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: Self.fragmentsMax,
                    maxAccumulatedFrameSize: Self.receivedBytesMax)
                try channel.pipeline.syncOperations.addHandlers(aggregator, this.value)
            }
        }
        let upgrade = NIOTypedHTTPClientUpgradeConfiguration<Void>(upgradeRequestHead: head, upgraders: [upgrader]) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(RefusedUpgradeHandler { this.value.refuse($0) })
            }
        }
        try channel.pipeline.syncOperations.addHandler(tls.makeHandler(host: host))
        var configuration = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: upgrade)
        // `hello` may arrive together with the upgrade's response.
        configuration.leftOverBytesStrategy = .forwardBytes
        try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: configuration)
            .assumeIsolated().whenFailure { self.fail($0) }
    }

    /// Before the upgrade. Later errors reach `errorCaught`.
    private func fail(_ error: any Error) {
        guard state == .connecting else { return }
        state = .closed
        channel?.close(promise: nil)
        delegate?.connectionFailed(error)
    }

    private func refuse(_ head: HTTPResponseHead) {
        guard state == .connecting else { return }
        state = .closed
        channel?.close(promise: nil)
        delegate?.connectionRefused(status: Int(head.status.code), code: head.headers.first(name: "X-Patchbay-Error"))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        guard state == .connecting else { return }
        state = .open
        delegate?.didReceiveActivity()
    }

    // MARK: Sending

    /// Whether a live frame should wait in its queue because the socket, or the path behind it, takes no more.
    var isCongested: Bool {
        guard state == .open, let channel, channel.isWritable else { return true }
        return SocketTuning.unacknowledgedBytes(of: channel).map { $0 >= SocketTuning.unacknowledgedBytesMax } ?? false
    }

    func send(text: [UInt8]) {
        guard state == .open, let channel else { return }
        send(.text, channel.allocator.buffer(bytes: text))
    }

    func send(binary message: [UInt8]) {
        guard state == .open, let channel else { return }
        send(.binary, channel.allocator.buffer(bytes: message))
    }

    private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, promise: EventLoopPromise<Void>? = nil) {
        channel?.writeAndFlush(WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data), promise: promise)
    }

    // MARK: Closing

    /// Sends a close frame after everything sent so far and waits up to 1 s for the gateway's. Only the first reason counts.
    func close(_ reason: CloseReason) {
        switch state {
        case .connecting: abort()
        case .open:
            state = .closing
            sentCloseReason = reason
            sendClose(code: reason.code, phrase: reason.phrase)
            eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) { [weak self] in self?.abort() }
        case .closing, .closed: break
        }
    }

    /// Closes the socket without a close frame or a TLS alert.
    func abort() {
        if case .connecting = state { state = .closed }
        guard let channel else { return }
        // From the TLS handler's context on, so that it does not wait for the peer's alert.
        if let context = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            context.close(promise: nil)
        } else {
            channel.close(promise: nil)
        }
    }

    private func sendClose(code: UInt16?, phrase: String, promise: EventLoopPromise<Void>? = nil) {
        guard let channel else { return }
        var payload = channel.allocator.buffer(capacity: 2 + phrase.utf8.count)
        if let code {
            payload.writeInteger(code)
            payload.writeString(phrase)
        }
        send(.connectionClose, payload, promise: promise)
    }

    // MARK: Channel events

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state == .open || state == .closing else { return }
        let frame = Self.unwrapInboundIn(data)
        // Servers do not mask (RFC 6455 section 5.1), and no extension was negotiated.
        guard frame.maskKey == nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return close(.webSocketProtocol) }
        switch frame.opcode {
        case .text where state == .open: delegate?.receive(text: Array(buffer: frame.data))
        case .binary where state == .open:
            guard frame.data.readableBytes <= ProtocolLimits.messageBytesMax else { return close(.messageTooBig) }
            frame.data.withUnsafeReadableBytes { delegate?.receive(binary: $0) }
        case .ping:
            delegate?.didReceiveActivity()
            if state == .open { send(.pong, frame.data) }
        case .pong: delegate?.didReceiveActivity()
        case .connectionClose: receiveClose(frame.data)
        case .text, .binary: break
        default: close(.webSocketProtocol)
        }
    }

    private func receiveClose(_ payload: ByteBuffer) {
        receivedCloseCode = payload.getInteger(at: payload.readerIndex) ?? 1005
        guard state == .open, let channel else {
            self.channel?.close(promise: nil)
            return
        }
        state = .closing
        let sent = eventLoop.makePromise(of: Void.self)
        sent.futureResult.whenComplete { _ in channel.close(promise: nil) }
        sendClose(code: receivedCloseCode == 1005 ? nil : receivedCloseCode, phrase: "", promise: sent)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if state == .open, context.channel.isWritable { delegate?.sendQueued() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if state != .closed {
            state = .closed
            delegate?.connectionClosed(sentCloseReason.map(Disconnection.closed) ?? Disconnection(closeCode: receivedCloseCode))
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength, NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge: close(.messageTooBig)
        case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error: close(.webSocketProtocol)
        // The gateway closes TCP without an alert once the close frames are exchanged; without them `channelInactive` reports the loss.
        case NIOSSLError.uncleanShutdown: break
        default: abort()
        }
    }
}

/// Takes the response of a gateway that refused the upgrade.
private final class RefusedUpgradeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let completion: (HTTPResponseHead) -> Void

    init(_ completion: @escaping (HTTPResponseHead) -> Void) {
        self.completion = completion
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = Self.unwrapInboundIn(data) { completion(head) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
