internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
package import Sockets
package import Store
internal import Synchronization

/// Sends requests to other servers: webhooks and model requests. Certificates are checked; redirects are not followed.
///
/// Each server has its own connections, so a slow server delays only its own requests.
package final class OutgoingClient: Sendable {
    /// Maximum response body, in bytes; about a thousand times a summary.
    package static let responseBytesMax = 1 << 20
    /// Eight requests to each of `WebhookSettings.urlsMax` endpoints, as many for summaries, and a queue.
    package static let requestsMax = 1_216

    private let client: AsyncHTTPClient.HTTPClient
    private let requestsMax: Int
    private let requests = Atomic(0)

    /// - Parameter requestsMax: requests in flight or waiting for a connection. Beyond it requests fail with `OutgoingError.busy`.
    /// - Throws: `OutgoingError.trust` if the authority's certificate cannot be read.
    package init(trusting trust: ClientTrust = .system, requestsMax: Int = OutgoingClient.requestsMax) throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        switch trust {
        case .system: break
        case .authority(let path):
            do {
                tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(path))]
            } catch {
                throw OutgoingError.trust(path: path)
            }
        case .anybody: tls.certificateVerification = .none
        }
        var configuration = AsyncHTTPClient.HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, decompression: .disabled)
        configuration.httpVersion = .http1Only
        // Never reached: `requestsMax` is the limit.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 192
        configuration.connectionPool.retryConnectionEstablishment = false
        client = AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.requestsMax = requestsMax
    }

    deinit {
        client.shutdown { _ in }
    }

    /// - Parameter timeout: how long a request may take, from looking up the host to the last byte of the response. A webhook's is shorter
    ///   than its lease.
    package func outgoing(timeout: Duration = .seconds(10)) -> Outgoing {
        { [self] request in try await send(request, timeout: timeout) }
    }

    /// - Throws: `OutgoingURLError`, `OutgoingError`.
    private func send(_ request: OutgoingRequest, timeout: Duration) async throws -> OutgoingResponse {
        let url = try OutgoingURL(request.url)
        guard requests.add(1, ordering: .relaxed).newValue <= requestsMax else {
            requests.subtract(1, ordering: .relaxed)
            throw OutgoingError.busy
        }
        defer { requests.subtract(1, ordering: .relaxed) }
        var outgoing = AsyncHTTPClient.HTTPClientRequest(url: request.url)
        outgoing.method = .POST
        for header in request.headers { outgoing.headers.add(name: header.name, value: header.value) }
        // A server may close an idle connection just as it is reused, and a POST must not be repeated blindly.
        outgoing.headers.add(name: "connection", value: "close")
        outgoing.body = .bytes(ByteBuffer(bytes: request.body))
        let deadline = NIODeadline.now() + TimeAmount(timeout)
        do {
            let response = try await client.execute(outgoing, deadline: deadline)
            let body = try await response.body.collect(upTo: Self.responseBytesMax)
            return OutgoingResponse(status: Int(response.status.code), body: Array(body.readableBytesView))
        } catch {
            throw OutgoingError(error, host: url.host)
        }
    }
}

/// Why a request failed. The description reveals only the request's host.
package enum OutgoingError: Error, Sendable, CustomStringConvertible {
    case unknownHost(String)
    case connection(String)
    case timeout
    /// Too many requests are waiting.
    case busy
    case cancelled
    case responseTooLong
    /// The file with trusted certificates cannot be read.
    case trust(path: String)

    fileprivate init(_ error: any Error, host: String) {
        switch error {
        case let error as AsyncHTTPClient.HTTPClientError where error == .deadlineExceeded || error == .connectTimeout: self = .timeout
        case let error as AsyncHTTPClient.HTTPClientError where error == .cancelled: self = .cancelled
        case is CancellationError: self = .cancelled
        case is NIOTooManyBytesError: self = .responseTooLong
        case let error as NIOConnectionError where error.connectionErrors.isEmpty: self = .unknownHost(host)
        case is SocketAddressError: self = .unknownHost(host)
        default: self = .connection("\(host): \(error)")
        }
    }

    package var description: String {
        switch self {
        case .unknownHost(let host): "the host \(host) is unknown"
        case .connection(let reason): reason
        case .timeout: "no response in time"
        case .busy: "too many requests are waiting"
        case .cancelled: "the request was cancelled"
        case .responseTooLong: "the response is longer than \(OutgoingClient.responseBytesMax) bytes"
        case .trust(let path): "\(path) holds no certificate that can be read"
        }
    }
}
