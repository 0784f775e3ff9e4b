import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// A server that speaks APNs' contract: HTTP/2 over TLS and nothing else.
final class APNsServer: Sendable {
    struct Request: Sendable {
        var path: String
        var fields: [String: String] = [:]
        var body: [UInt8] = []
    }

    struct Answer: Sendable {
        var status: Int
        var body: String

        init(_ status: Int, _ body: String = "") {
            self.status = status
            self.body = body
        }
    }

    private let channel: any Channel
    private let received: Received

    /// - Parameter answer: the answer to a request, by its number from 0.
    init(_ answer: @escaping @Sendable (Int) -> Answer = { _ in Answer(200) }) async throws {
        let received = Received(answer)
        self.received = received
        let files = Certificate.usual
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(files.certificateURL.path).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: files.keyURL.path, format: .pem)))
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { connection in
                connection.eventLoop.makeCompletedFuture {
                    let pipeline = connection.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    _ = try pipeline.configureHTTP2Pipeline(
                        mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
                    ) { stream in
                        stream.eventLoop.makeCompletedFuture {
                            try stream.pipeline.syncOperations.addHandlers([
                                HTTP2FramePayloadToHTTP1ServerCodec(), Responder(received),
                            ])
                        }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit { channel.close(promise: nil) }

    var url: String { "https://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    var requests: [Request] { received.requests.withLock { $0 } }

    private final class Received: Sendable {
        let requests = Mutex<[Request]>([])
        private let answer: @Sendable (Int) -> Answer

        init(_ answer: @escaping @Sendable (Int) -> Answer) {
            self.answer = answer
        }

        func add(_ request: Request) -> Answer {
            answer(
                requests.withLock { requests in
                    requests.append(request)
                    return requests.count - 1
                })
        }
    }

    /// One request and its response.
    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let received: Received
        private var request = Request(path: "")

        init(_ received: Received) {
            self.received = received
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                request.path = head.uri
                for (name, value) in head.headers { request.fields[name.lowercased()] = value }
            case .body(let bytes): request.body += bytes.readableBytesView
            case .end:
                let answer = received.add(request)
                let head = HTTPResponseHead(version: .http2, status: HTTPResponseStatus(statusCode: answer.status))
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.body)))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
