internal import HTTPTypes
package import Store
package import Sockets

/// Carries what services send to other servers: webhooks, and questions to a chat API. Certificates are checked, redirects are not followed.
///
/// All share one thread; what one server makes wait are its own requests (`HTTPClient`).
package struct OutgoingClient: Sendable {
    /// The longest answer that is taken, in bytes. A summary is a thousandth of it.
    package static let answerBytesMax = 1 << 20
    /// Enough for eight requests at once to each of `WebhookSettings.urlsMax` endpoints, with as many left for summaries.
    package static let limits = HTTPClientLimits(atOnceMax: 192, waitingMax: 1_024)

    private let client: HTTPClient

    /// - Throws: `LoopError`, `TLSFileError`.
    package init(trusting trust: ClientTrust = .system) async throws {
        client = try await HTTPClient(trusting: trust, limits: Self.limits)
    }

    /// A way out for one kind of request.
    ///
    /// - Parameter timeout: how long each may take; a webhook's is shorter than its lease.
    package func outgoing(timeout: Duration = .seconds(10)) -> Outgoing {
        { request in try await send(request, timeout: timeout) }
    }

    /// - Throws: `OutgoingURLError`, `HTTPClientError`.
    private func send(_ request: OutgoingRequest, timeout: Duration) async throws -> OutgoingResponse {
        var fields = HTTPFields()
        for header in request.headers {
            if let name = HTTPField.Name(header.name) { fields.append(HTTPField(name: name, value: header.value)) }
        }
        let answer = try await client.send(
            HTTPClientRequest(
                "POST", try OutgoingURL(request.url).endpoint, fields: fields, body: request.body, timeout: timeout,
                answerBytesMax: Self.answerBytesMax))
        return OutgoingResponse(status: answer.status, body: answer.body)
    }
}
