internal import Foundation
internal import Synchronization

/// Sends requests to other servers: webhooks, pushes, requests to models. Certificates are checked. Redirects, cookies and the environment's
/// proxies are ignored.
///
/// Each server has its own connections, so a slow server delays only its own requests.
package final class OutgoingClient: Sendable {
    /// Maximum response body, in bytes; about a thousand times a summary.
    package static let responseBytesMax = 1 << 20
    /// Eight requests to each of `WebhookSettings.urlsMax` endpoints, as many for summaries, and a queue.
    package static let requestsMax = 1_216

    package enum Connections: Sendable {
        /// Each request has an HTTP/1.1 connection of its own: a server may close an idle connection just as it is reused, and a POST must
        /// not be repeated blindly.
        case single
        /// Requests share connections, and one at the same time if the server speaks HTTP/2.
        case shared
    }

    private let authority: String?
    private let connections: Connections
    private let requestsMax: Int
    private let requests = Atomic(0)

    /// - Parameters:
    ///   - authority: the path of a PEM file with certificates that are trusted besides the system's.
    ///   - requestsMax: requests of `outgoing` in flight or waiting for a connection. Beyond it requests fail with `OutgoingError.busy`.
    /// - Throws: `OutgoingError.trust` if the authority's certificate cannot be read.
    package init(
        authority: String? = nil, connections: Connections = .single, requestsMax: Int = OutgoingClient.requestsMax
    ) throws(OutgoingError) {
        if let authority {
            let text = try? String(contentsOfFile: authority, encoding: .utf8)
            guard text?.contains("-----BEGIN CERTIFICATE-----") ?? false else { throw .trust(path: authority) }
        }
        self.authority = authority
        self.connections = connections
        self.requestsMax = requestsMax
    }

    /// - Parameters:
    ///   - timeout: how long a request may take, from looking up the host to the last byte of the response. A webhook's is shorter than its
    ///     lease.
    ///   - responseBytesMax: maximum response body, in bytes.
    package func outgoing(
        timeout: Duration = .seconds(10), responseBytesMax: Int = OutgoingClient.responseBytesMax
    ) -> Outgoing {
        { [self] request in
            guard requests.add(1, ordering: .relaxed).newValue <= requestsMax else {
                requests.subtract(1, ordering: .relaxed)
                throw OutgoingError.busy
            }
            defer { requests.subtract(1, ordering: .relaxed) }
            let stream = try await open(request, timeout: timeout)
            return OutgoingResponse(status: stream.status, body: try await stream.body(bytesMax: responseBytesMax))
        }
    }

    /// Sends a request and waits for the head of its response.
    ///
    /// - Parameter timeout: as in `outgoing`; nil if the caller ends the task.
    package func open(_ request: OutgoingHTTPRequest, timeout: Duration? = nil) async throws(OutgoingError) -> OutgoingStream {
        let url = try OutgoingURL(request.url)
        let transfer = Transfer(request, to: url, authority: authority, connections: connections, timeout: timeout)
        TransferLoop.shared.post(.start(transfer))
        let head = try await transfer.head()
        return OutgoingStream(head, transfer)
    }
}

/// A response whose body is received as it is read: unread bytes stay with the server. Its end ends the transfer.
package final class OutgoingStream: Sendable {
    package let status: Int
    /// The header fields by name in lower case. The last field of a name counts.
    package let fields: [String: String]
    private let transfer: Transfer

    fileprivate init(_ head: Transfer.Head, _ transfer: Transfer) {
        status = head.status
        fields = head.fields
        self.transfer = transfer
    }

    deinit { transfer.cancel() }

    /// - Parameter name: in lower case.
    package func header(_ name: String) -> String? { fields[name] }

    /// The bytes that arrived since the last call, at least one; nil at the end of the body.
    package func next() async throws(OutgoingError) -> [UInt8]? { try await transfer.bytes() }

    /// The rest of the body.
    package func body(bytesMax: Int) async throws(OutgoingError) -> [UInt8] {
        var body: [UInt8] = []
        while let bytes = try await next() {
            guard body.count + bytes.count <= bytesMax else { throw .responseTooLong(bytesMax: bytesMax) }
            body += bytes
        }
        return body
    }
}
