internal import AsyncHTTPClient
internal import Foundation
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
    private let httpVersion: Version

    package enum Version: Sendable {
        /// Each request has a connection of its own.
        case http1
        /// Requests to a server share a connection, if it speaks HTTP/2.
        case http2
    }

    private let requests = Atomic(0)

    /// - Parameter requestsMax: requests in flight or waiting for a connection. Beyond it requests fail with `OutgoingError.busy`.
    /// - Throws: `OutgoingError.trust` if the authority's certificate cannot be read.
    package init(
        trusting trust: ClientTrust = .system, version: Version = .http1, requestsMax: Int = OutgoingClient.requestsMax
    ) throws {
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
        configuration.httpVersion = version == .http1 ? .http1Only : .automatic
        // Never reached: `requestsMax` is the limit.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 192
        configuration.connectionPool.retryConnectionEstablishment = false
        client = AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.requestsMax = requestsMax
        httpVersion = version
    }

    deinit {
        client.shutdown { _ in }
    }

    /// - Parameters:
    ///   - timeout: how long a request may take, from looking up the host to the last byte of the response. A webhook's is shorter than its
    ///     lease.
    ///   - responseBytesMax: maximum response body, in bytes.
    package func outgoing(
        timeout: Duration = .seconds(10), responseBytesMax: Int = OutgoingClient.responseBytesMax
    ) -> Outgoing {
        { [self] request in try await send(request, timeout: timeout, responseBytesMax: responseBytesMax) }
    }

    /// - Throws: `OutgoingURLError`, `OutgoingError`.
    private func send(_ request: OutgoingHTTPRequest, timeout: Duration, responseBytesMax: Int) async throws -> OutgoingResponse {
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
        if httpVersion == .http1 { outgoing.headers.add(name: "connection", value: "close") }
        outgoing.body = .bytes(ByteBuffer(bytes: request.body))
        do {
            return try await Self.run(within: timeout) { [client, outgoing] in
                // This deadline ends with the response's head.
                let response = try await client.execute(outgoing, deadline: .now() + TimeAmount(timeout))
                let body = try await response.body.collect(upTo: responseBytesMax)
                // A cancelled body ends as if it were complete.
                try Task.checkCancellation()
                return OutgoingResponse(status: Int(response.status.code), body: Array(body.readableBytesView))
            }
        } catch {
            throw OutgoingError(error, host: url.host, responseBytesMax: responseBytesMax)
        }
    }

    /// - Throws: `OutgoingError.timeout` after `span`, or the body's error.
    private static func run<Value: Sendable>(
        within span: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: span)
                return nil
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() ?? nil else { throw OutgoingError.timeout }
            return value
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
    case responseTooLong(bytesMax: Int)
    /// The file with trusted certificates cannot be read.
    case trust(path: String)

    fileprivate init(_ error: any Error, host: String, responseBytesMax: Int) {
        switch error {
        case let error as OutgoingError: self = error
        case let error as AsyncHTTPClient.HTTPClientError where error == .deadlineExceeded || error == .connectTimeout: self = .timeout
        case let error as AsyncHTTPClient.HTTPClientError where error == .cancelled: self = .cancelled
        case is CancellationError: self = .cancelled
        case is NIOTooManyBytesError: self = .responseTooLong(bytesMax: responseBytesMax)
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
        case .responseTooLong(let bytesMax): "the response is longer than \(bytesMax) bytes"
        case .trust(let path): "\(path) holds no certificate that can be read"
        }
    }
}

extension OutgoingError: OutgoingFailure {
    package var cause: OutgoingFailureCause {
        switch self {
        case .unknownHost, .connection, .trust: .unreachable
        case .timeout: .timeout
        case .busy: .overloaded
        case .cancelled: .cancelled
        case .responseTooLong: .responseTooLong
        }
    }
}

extension OutgoingURLError: OutgoingFailure {
    package var cause: OutgoingFailureCause { .invalidURL }
}

/// A checked URL of another server: `https://host[:port]/path[?query]`, or `http://` for servers that need no secrecy.
package struct OutgoingURL: Sendable, Hashable {
    let host: String

    /// - Throws: `OutgoingURLError`, whose description says how to fix the URL.
    package init(_ text: String) throws(OutgoingURLError) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw OutgoingURLError("\"\(text)\" is not a URL; write it as https://host/path")
        }
        guard let scheme = parts.scheme?.lowercased(), ["https", "http"].contains(scheme) else {
            throw OutgoingURLError("\"\(text)\" is neither https:// nor http://")
        }
        guard parts.user == nil, parts.password == nil, parts.fragment == nil else {
            throw OutgoingURLError("the URL of \(host) has more than host, port, path and query")
        }
        guard parts.port.map({ (1...65_535).contains($0) }) ?? true else {
            throw OutgoingURLError("\"\(text)\" has an impossible port; use 1 to 65535")
        }
        guard !(host.hasPrefix("[") && scheme == "https") else {
            throw OutgoingURLError("\"\(text)\" has an IPv6 address; https:// needs a host name")
        }
        self.host = host
    }
}

/// Why a URL cannot be used.
package struct OutgoingURLError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
