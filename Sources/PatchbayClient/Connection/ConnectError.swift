internal import NIOCore
internal import NIOPosix
internal import NIOSSL
public import Wire

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Why connecting to a gateway failed: a message for people, and a kind, HTTP status and code for programs.
public struct ConnectError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The URL is not a valid gateway URL.
        case badURL
        /// The CA file cannot be read, or the system lacks memory or file descriptors.
        case setup
        /// The host name is unknown, or nothing accepts the connection.
        case unreachable
        /// The gateway's certificate is not trusted, or the server does not speak TLS.
        case untrusted
        /// The gateway refused the connection; see `status` and `code`.
        case refused
        /// The connection was not established within `RoomOptions.connectTimeout`.
        case timeout
    }

    public var kind: Kind
    /// The HTTP status of a refusal: 401, 403, 404, 409, 429 or 503.
    public var status: Int?
    /// The gateway's error code, such as `token_expired`.
    public var code: String?
    /// The problem and its remedy.
    public var message: String

    public var description: String { message }

    /// Whether the same attempt may succeed later without a change by the caller.
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

    /// Checks that the token can be sent in an HTTP header.
    static func check(token: String) throws(ConnectError) {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ConnectError(
                .refused, "the token is empty or contains invalid characters; get a new one", status: 401, code: "malformed_token")
        }
    }

    /// The gateway answered the WebSocket upgrade with an error.
    init(status: Int, code: String?, at address: GatewayAddress) {
        let message = "\(address.host) port \(address.port): \(Self.advice(status: status, code: code, at: address))"
        self.init(.refused, "\(message) (HTTP \(status)\(code.map { ", \($0)" } ?? ""))", status: status, code: code)
    }

    /// An error of SwiftNIO while connecting.
    init(_ error: any Error, at address: GatewayAddress) {
        let server = "\(address.host) port \(address.port)"
        switch error {
        case let error as ConnectError: self = error
        case let error as NIOConnectionError:
            if error.connectionErrors.isEmpty {
                self.init(.unreachable, "the host \(address.host) is not known; check the URL, and that this machine has a name server")
            } else {
                self.init(.unreachable, "no gateway answers at \(server): \(Self.reason(of: error.connectionErrors.map(\.error)))")
            }
        case ChannelError.connectTimeout: self.init(.timeout, "no answer from \(server) in time; check host, port and firewall")
        case NIOSSLError.handshakeFailed(.sslError(let stack)) where "\(stack)".contains("CERTIFICATE_VERIFY_FAILED"):
            self.init(.untrusted, Self.untrusted(server))
        case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate:
            self.init(.untrusted, Self.untrusted(server))
        case is NIOSSLExtraError:
            self.init(.untrusted, "the certificate of \(server) was issued for another host name; check the URL")
        // A server that stops closes the connections whose handshake is not complete. NIOSSL reports that as an SSL error.
        case NIOSSLError.handshakeFailed(.sslError(let stack)) where !"\(stack)".contains("EOF during handshake"):
            self.init(.untrusted, "no TLS with \(server): the server does not speak TLS, or no common version; check the port")
        default:
            self.init(
                .unreachable, "no gateway answers at \(server): the connection ended during the handshake; try again, or check the port")
        }
    }

    /// Why no address of a host accepts a connection: the first reason, since they rarely differ.
    private static func reason(of errors: [any Error]) -> String {
        switch errors.first {
        case let error as IOError where error.errnoCode == ECONNREFUSED:
            "the connection was refused; check host and port, and that the gateway runs"
        case let error as IOError where [EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL].contains(error.errnoCode):
            "there is no route to the host; check the host and this machine's network"
        case let error as IOError where [EMFILE, ENFILE].contains(error.errnoCode):
            "this process has no file descriptors left; raise `ulimit -n`"
        case ChannelError.connectTimeout?: "it did not answer in time; check host, port and firewall"
        default: "the connection failed; check host, port and firewall"
        }
    }

    private static func untrusted(_ server: String) -> String {
        "the certificate of \(server) is not trusted; pass the PEM file of the authority that signed it: with --ca (or --dev for that of "
            + "`patchbay serve --dev`), in programs with RoomOptions.trust"
    }

    private static func advice(status: Int, code: String?, at address: GatewayAddress) -> String {
        switch (status, code) {
        case (401, "token_expired"): "the token has expired; get a new one"
        case (401, "token_not_yet_valid"): "the token is not valid yet; compare the clocks"
        case (401, "unknown_issuer"): "the gateway does not know the API key that signed the token"
        case (401, "bad_signature"): "the token's signature is wrong; check the API secret"
        case (401, _): "the token was not accepted; get a new one"
        case (403, _): "the token does not allow this; request one with the missing grant"
        case (404, "room_not_found"): "the room does not exist, and joining does not create it"
        case (404, _) where address.path == GatewayAddress.channelPath: "the gateway keeps no accounts, so there are no calls"
        case (404, _): "there is no gateway at this path; leave the path out of the URL"
        case (409, _): "the room is full"
        case (426, _), (400, _): "the server does not speak this protocol"
        case (429, _): "too many failed attempts from this address; wait a minute"
        case (503, _): "the gateway is shutting down; connect to another one"
        default: "the gateway refused the connection"
        }
    }
}

/// Why a connection ended.
public enum Disconnection: Sendable, Hashable, CustomStringConvertible {
    /// This client left.
    case left
    /// The gateway closed the connection with a reason.
    case closed(CloseReason)
    /// The connection was closed with a code that docs/protocol/close-codes.md does not list.
    case closedWithCode(UInt16)
    /// The connection was lost without a close frame.
    case lost
    /// The gateway sent nothing for as long as `hello` allows, or did not answer a ping within 4 s while the session could be resumed.
    case pingTimeout
    /// A connection attempt failed.
    case attemptFailed(ConnectError)
    /// All reconnect attempts failed; the associated value is the last error.
    case gaveUp(ConnectError)

    /// Interprets a WebSocket close code; nil if the connection ended without a close frame.
    init(closeCode code: UInt16?) {
        switch code {
        // 1005 and 1006 mean "no code" (RFC 6455 section 7.1.5).
        case nil, 1005, 1006: self = .lost
        case let code?: self = CloseReason(rawValue: code).map(Disconnection.closed) ?? .closedWithCode(code)
        }
    }

    /// Whether reconnecting makes sense: codes 4000–4099 and lost connections. Proxies close with RFC 6455's 1001 and 1011 to 1014 when
    /// they lose their own connection.
    public var isRetryable: Bool {
        switch self {
        case .lost, .pingTimeout: true
        case .closed(let reason): reason.isRetryable
        case .closedWithCode(let code): (4000...4099).contains(code) || code == 1001 || (1011...1014).contains(code)
        case .attemptFailed(let error): error.isRetryable
        case .left, .gaveUp: false
        }
    }

    public var description: String {
        switch self {
        case .left: "left"
        case .closed(let reason): "closed by the gateway: \(reason.phrase) (\(reason.code))"
        case .closedWithCode(let code): "closed by the gateway with code \(code)"
        case .lost: "the connection was lost"
        case .pingTimeout: "the gateway did not respond to pings"
        case .attemptFailed(let error): error.message
        case .gaveUp(let error): "gave up reconnecting: \(error)"
        }
    }
}
