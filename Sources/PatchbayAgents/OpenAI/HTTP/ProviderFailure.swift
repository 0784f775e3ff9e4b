internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import OutgoingHTTP
internal import Wire

/// Why an attempt failed: the provider's error, and what decides whether it is repeated.
package struct ProviderFailure: Error, Hashable {
    package var error: ProviderError
    /// The HTTP status of a refusal.
    package var status: Int?
    /// How long the server asks to wait.
    package var retryAfter: Duration?

    package init(_ error: ProviderError, status: Int? = nil, retryAfter: Duration? = nil) {
        self.error = error
        self.status = status
        self.retryAfter = retryAfter
    }

    /// A response with another status than 2xx.
    ///
    /// - Parameters:
    ///   - header: the value of the header field with a name in lower case.
    ///   - body: may be cut. Of it, only identifiers reach the message: servers repeat keys and what was said in theirs.
    init(status: Int, header: (String) -> String? = { _ in nil }, body: [UInt8] = [], at server: String) {
        let detail = ServerErrorBody(body)
        let reason = detail.map { ": \($0.summary)" } ?? ""
        let code: ProviderError.Code =
            switch status {
            case 429 where detail?.code == "insufficient_quota": .rejected
            case 429, 500...: .overloaded
            case 408: .timeout
            default: .rejected
            }
        let advice =
            switch status {
            case 300..<400: "redirects are not followed; correct base_url"
            case 401, 403: "the credentials were not accepted; check api_key_env"
            case 404: "there is no such address or model; check base_url and model"
            case 429: "the rate limit is reached"
            case 500...: "the server failed"
            default: "the request was not accepted"
            }
        self.init(
            ProviderError(code, "\(server) answered with status \(status)\(reason); \(advice)"), status: status,
            retryAfter: Self.retryAfter(header))
    }

    /// Whether the server may accept the request without optional parameters.
    var refusesParameters: Bool { [400, 415, 422].contains(status) }

    /// An error of `OutgoingClient`, or of SwiftNIO for a realtime session. Nil for a cancellation.
    init?(_ error: any Error, at server: String) {
        switch error {
        case let failure as ProviderFailure: self = failure
        case let error as ProviderError: self.init(error)
        case is CancellationError: return nil
        case OutgoingError.cancelled: return nil
        case OutgoingError.timeout, ChannelError.connectTimeout: self.init(ProviderError(.timeout, "\(server) did not answer in time"))
        case OutgoingError.unknownHost: self.init(Self.unknownHost(server))
        case let error as NIOConnectionError where error.connectionErrors.isEmpty: self.init(Self.unknownHost(server))
        case OutgoingError.refused, is NIOConnectionError:
            self.init(ProviderError(.disconnected, "nothing answers at \(server); is the server running?"))
        case OutgoingError.untrusted, is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            self.init(ProviderError(.rejected, "no trusted TLS connection with \(server)"))
        default: self.init(ProviderError(.disconnected, "\(server) closed the connection before the answer was complete"))
        }
    }

    private static func unknownHost(_ server: String) -> ProviderError {
        ProviderError(.disconnected, "the host of \(server) is not known; check base_url")
    }

    /// `Retry-After` in seconds (RFC 9110 section 10.2.3; a date is ignored), or OpenAI's `retry-after-ms`.
    private static func retryAfter(_ header: (String) -> String?) -> Duration? {
        let milliseconds =
            header("retry-after-ms").flatMap(Double.init)
            ?? header("retry-after").flatMap(Double.init).map { $0 * 1_000 }
        guard let milliseconds, (0...86_400_000).contains(milliseconds) else { return nil }
        return .milliseconds(milliseconds)
    }
}

/// Which failures are repeated, and when. No attempt outlasts `timeout`, so that a user does not wait longer for an apology.
package struct RetryPolicy: Sendable, Hashable {
    /// From the first attempt's start until the answer begins; afterwards, the longest pause within the answer.
    package var timeout: Duration
    /// Repetitions after a retryable failure.
    package var retries: Int

    private static let backoff = Backoff(.exponential, unit: .milliseconds(250), delayMax: .seconds(4), jitter: .upperHalf)

    package init(timeout: Duration, retries: Int) {
        self.timeout = timeout
        self.retries = retries
    }

    /// - Parameters:
    ///   - failures: failed attempts, at least 1.
    ///   - elapsed: since the start of the first attempt.
    ///   - random: 0 to 1.
    /// - Returns: the delay before the next attempt; nil to give up.
    package func delay(after failure: ProviderFailure, failures: Int, elapsed: Duration, random: Double) -> Duration? {
        guard failure.error.isRetryable, failures <= retries else { return nil }
        // Servers close idle connections, also in the moment in which one is reused: a new one will do.
        if failure.error.code == .disconnected, failures == 1, elapsed < timeout { return .zero }
        let delay = max(Self.backoff.delay(afterFailures: failures, random: random), failure.retryAfter ?? .zero)
        return elapsed + delay < timeout ? delay : nil
    }
}

/// The error object of OpenAI's API: `{"error": {"type": …, "code": …}}`, in a body or within a stream. Some servers send only a text.
struct ServerErrorBody: Decodable, Hashable {
    /// Both in the form of identifiers, and empty otherwise.
    private(set) var type = ""
    private(set) var code = ""
    /// The id of the request that failed. Realtime sessions only.
    private(set) var eventId: String?

    private enum CodingKeys: CodingKey { case type, code, eventId }

    init?(_ body: [UInt8]) {
        guard let document = try? JSON.decode(Document.self, from: body, names: .snakeCase) else { return nil }
        self = document.error
    }

    private struct Document: Decodable {
        var error: ServerErrorBody
    }

    init(from decoder: any Decoder) throws {
        guard let fields = try? decoder.container(keyedBy: CodingKeys.self) else { return }
        type = Self.identifier((try? fields.decodeIfPresent(String.self, forKey: .type)) ?? "")
        let number = try? fields.decodeIfPresent(Int.self, forKey: .code)
        code = number.map(String.init) ?? Self.identifier((try? fields.decodeIfPresent(String.self, forKey: .code)) ?? "")
        eventId = try? fields.decodeIfPresent(String.self, forKey: .eventId)
    }

    /// For logs.
    var summary: String {
        let parts = [type, code].filter { !$0.isEmpty }
        return parts.isEmpty ? "no reason" : parts.joined(separator: ", ")
    }

    /// The error within a stream whose status was 200.
    func providerError(at what: String) -> ProviderError {
        let isRefusal = type == "invalid_request_error" || type == "authentication_error" || code.hasPrefix("4") && code != "429"
        return ProviderError(isRefusal ? .rejected : .overloaded, "\(what) ended with an error: \(summary)")
    }

    private static func identifier(_ text: String) -> String {
        let isIdentifier = text.utf8.count <= 64 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
        return isIdentifier ? text : ""
    }
}
