internal import Foundation
internal import Wire

/// The parts of a gateway URL, `wss://host[:port][/path]`. The port defaults to 443 (RFC 6455 section 3).
package struct GatewayAddress: Hashable, Sendable {
    package var host: String
    package var port: Int
    package var path: String

    private static let defaultPort = 443
    package static let roomPath = "/v1/rtc"
    /// A user's call channel.
    static let channelPath = "/v1/events"

    /// - Parameter path: the path if the URL has none.
    /// - Throws: `ConnectError` of kind `badURL`.
    package init(_ text: String, path: String = Self.roomPath) throws(ConnectError) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw ConnectError(.badURL, "\"\(text)\" is not a gateway URL; write it as wss://host:port")
        }
        guard parts.scheme == "wss" || parts.scheme == "https" else {
            throw ConnectError(.badURL, "\"\(text)\" is not encrypted, but the gateway accepts TLS only; write wss://")
        }
        guard parts.query == nil, parts.user == nil, parts.fragment == nil else {
            throw ConnectError(.badURL, "\"\(text)\" contains more than host, port and path; pass token and options as arguments")
        }
        // Foundation keeps the brackets of an IPv6 address.
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.port = parts.port ?? Self.defaultPort
        self.path = parts.path.isEmpty || parts.path == "/" ? path : parts.path
    }

    /// The value of the `Host` header (RFC 9110 section 7.2).
    var hostField: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == Self.defaultPort ? name : "\(name):\(port)"
    }

    /// The request target for joining a room.
    ///
    /// - Parameter claim: the session to resume, if any.
    func roomTarget(autoSubscribe: Bool, resuming claim: ResumeClaim? = nil) -> String {
        var items = autoSubscribe ? [] : ["auto_subscribe=false"]
        if let claim { items += ["resume=\(claim.escapedToken)", "last_seq=\(claim.lastSeq)"] }
        return items.isEmpty ? path : path + "?" + items.joined(separator: "&")
    }
}

/// The resume token and position that a client sends to resume its session after losing the connection (docs/protocol/resuming.md,
/// "Resuming").
struct ResumeClaim: Hashable {
    /// The resume token of the latest `hello`.
    var token: String
    /// The sequence number of the last event received.
    var lastSeq: UInt64

    /// The token, percent-encoded for a URL query.
    var escapedToken: String {
        token.addingPercentEncoding(withAllowedCharacters: .urlUnreserved) ?? ""
    }
}

extension CharacterSet {
    /// RFC 3986 section 2.3.
    fileprivate static let urlUnreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
