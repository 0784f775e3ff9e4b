internal import NIOCore
internal import NIOHTTP1
internal import Wire

/// The response to one HTTP request.
struct HTTPExchangeResponse: Sendable {
    var status: Int
    var body: [UInt8]
    /// The value of `Retry-After`, if it is a number of seconds.
    var retryAfterSeconds: Int?
    /// The value of `Link`.
    var link: String?
}

/// One HTTPS request on a connection of its own. Redirects are not followed.
enum HTTPExchange {
    /// The longest response body that is accepted, in bytes.
    private static let responseBytesMax = 16 << 20

    /// - Parameters:
    ///   - address: host and port; its path is ignored.
    ///   - timeout: how long connecting, sending and receiving may take in all.
    static func send(
        _ method: HTTPMethod, to address: GatewayAddress, target: String, headers: HTTPHeaders, body: [UInt8], trust: TLSTrust,
        timeout: Duration
    ) async throws(ConnectError) -> HTTPExchangeResponse {
        let tls = try TLSContext.cached(for: trust)
        let eventLoop = ClientEventLoop.shared
        let response = eventLoop.makePromise(of: HTTPExchangeResponse.self)
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
        head.headers.add(name: "Host", value: address.hostField)
        head.headers.add(name: "Connection", value: "close")
        if !body.isEmpty { head.headers.add(name: "Content-Length", value: "\(body.count)") }
        let request = head
        let connection = ClientEventLoop.connect(to: address, on: eventLoop, timeout: timeout) { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(tls.makeHandler(host: address.host))
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: responseBytesMax))
                try pipeline.addHandler(HTTPExchangeHandler(request: request, body: body, response: response))
            }
        }
        connection.whenFailure { response.fail($0) }
        let timer = eventLoop.scheduleTask(in: TimeAmount(timeout)) { response.fail(ChannelError.connectTimeout(TimeAmount(timeout))) }
        response.futureResult.whenComplete { _ in
            timer.cancel()
            connection.whenSuccess { $0.close(promise: nil) }
        }
        do {
            return try await withTaskCancellationHandler {
                try await response.futureResult.get()
            } onCancel: {
                response.fail(CancellationError())
            }
        } catch {
            throw ConnectError(error, at: address)
        }
    }
}

private final class HTTPExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPClientResponseFull
    typealias OutboundOut = HTTPClientRequestPart

    private let request: HTTPRequestHead
    private let body: [UInt8]
    private let response: EventLoopPromise<HTTPExchangeResponse>

    init(request: HTTPRequestHead, body: [UInt8], response: EventLoopPromise<HTTPExchangeResponse>) {
        self.request = request
        self.body = body
        self.response = response
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(Self.wrapOutboundOut(.head(request)), promise: nil)
        if !body.isEmpty {
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: body)))), promise: nil)
        }
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let full = Self.unwrapInboundIn(data)
        response.succeed(
            HTTPExchangeResponse(
                status: Int(full.head.status.code), body: full.body.map { Array(buffer: $0) } ?? [],
                retryAfterSeconds: full.head.headers.first(name: "Retry-After").flatMap { Int($0) },
                link: full.head.headers.first(name: "Link")))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? NIOHTTPObjectAggregatorEvent, event == .httpFrameTooLong {
            response.fail(ConnectError(.unreachable, "the response exceeds the limit of the client"))
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        response.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        response.fail(ChannelError.inputClosed)
        context.fireChannelInactive()
    }
}
