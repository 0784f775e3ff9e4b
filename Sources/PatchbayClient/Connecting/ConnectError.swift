internal import Sockets

/// Why a connection to a gateway did not come about: one sentence for people, and a kind, HTTP status and code for programs.
public struct ConnectError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The URL cannot be used.
        case badURL
        /// The file with the authority's certificate cannot be read, or the system has no memory or descriptors for us.
        case setup
        /// Nobody answers there, or the name is not known.
        case unreachable
        /// The gateway's certificate is not one that we trust.
        case untrusted
        /// The gateway answered and said no; `status` and `code` tell why.
        case refused
        /// Nothing came for 15 s.
        case timeout
    }

    public var kind: Kind
    /// The HTTP status of a refusal: 401, 403, 404, 409, 429 or 503.
    public var status: Int?
    /// The gateway's word for it, such as `token_expired`.
    public var code: String?
    /// One sentence that says what to do.
    public var message: String

    public var description: String { message }

    /// Whether the same attempt may succeed later without anybody doing something about it.
    public var isRetryable: Bool {
        switch kind {
        case .badURL, .setup, .untrusted: false
        case .unreachable, .timeout: true
        case .refused: status == 429 || (status ?? 0) >= 500
        }
    }

    init(_ kind: Kind, _ message: String, status: Int? = nil, code: String? = nil) {
        self.kind = kind
        self.status = status
        self.code = code
        self.message = message
    }

    /// The token as it would be sent.
    static func check(token: String) throws(ConnectError) {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ConnectError(.refused, "the token is empty or holds characters that no token has", status: 401, code: "malformed_token")
        }
    }

    /// Why there is no thread for sockets.
    init(settingUp problem: any Error) {
        if let file = problem as? TLSFileError {
            self.init(.setup, "cannot use the authority's certificate \(file.path): \(file.reason)")
        } else {
            self.init(.setup, "\(problem)")
        }
    }

    /// What the socket layer found, in words.
    init(_ error: Sockets.ConnectError, at address: GatewayAddress) {
        let place = "\(address.host) port \(address.port)"
        if let status = error.status {
            self.init(.refused, Self.sentence(status: status, code: error.code, at: address), status: status, code: error.code)
        } else if Self.isAboutTrust(error.message) {
            self.init(
                .untrusted, "no TLS with \(place): its certificate is not trusted, or it speaks no TLS; name the authority's certificate")
        } else {
            self.init(.unreachable, "no gateway answers at \(place): \(Self.plain(error.message))")
        }
    }

    init(_ error: HTTPClientError, at address: GatewayAddress) {
        switch error {
        case .connection(let error): self.init(error, at: address)
        case .unknownHost: self.init(.unreachable, "\(error)")
        case .timeout: self.init(.timeout, "no answer from \(address.host) port \(address.port) in time")
        case .busy, .cancelled: self.init(.setup, "\(error)")
        }
    }

    /// The socket layer's words for a handshake that failed. OpenSSL's own reason is not among them.
    private static func isAboutTrust(_ words: String) -> Bool {
        ["SSL err", "cert", "hostname"].contains { words.contains($0) }
    }

    private static func plain(_ words: String) -> String {
        words.hasPrefix("closed before established") ? "the connection was refused" : words
    }

    private static func sentence(status: Int, code: String?, at address: GatewayAddress) -> String {
        let reason =
            switch (status, code) {
            case (401, "token_expired"): "the token has expired; get a new one"
            case (401, "token_not_yet_valid"): "the token is not valid yet; compare the clocks"
            case (401, "unknown_issuer"): "the gateway does not know the API key that signed the token"
            case (401, "bad_signature"): "the token's signature is wrong; check the API secret"
            case (401, _): "the token was not accepted; get a new one"
            case (403, _): "the token does not allow this; ask for one with the grant that is missing"
            case (404, "room_not_found"): "the room does not exist, and joining does not make it"
            case (404, _) where address.path == GatewayAddress.channelPath: "the gateway keeps no accounts, and so rings nobody"
            case (404, _): "there is no gateway at this path; leave the path out of the URL"
            case (409, _): "the room is full"
            case (426, _), (400, _): "the other side does not speak this protocol"
            case (429, _): "too many failed attempts from this address; wait a minute"
            case (503, _): "the gateway is about to stop; connect to another one"
            default: "the gateway does not let us in"
            }
        return "\(address.host) port \(address.port): \(reason) (HTTP \(status)\(code.map { ", \($0)" } ?? ""))"
    }
}
