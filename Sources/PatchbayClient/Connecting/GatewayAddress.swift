internal import Foundation
internal import Sockets
internal import Wire

/// A gateway's URL taken apart: `wss://host[:port][/path]`. The port defaults to 7880, the path to `/v1/rtc` or what else is wanted there.
struct GatewayAddress: Hashable {
    var host: String
    var port: Int
    var path: String

    static let roomPath = "/v1/rtc"
    /// A user's own channel.
    static let channelPath = "/v1/events"

    /// - Parameter path: where the URL has none.
    /// - Throws: `ConnectError` of kind `badURL`, with a sentence that says what to write instead.
    init(_ text: String, path: String = Self.roomPath) throws(ConnectError) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw ConnectError(.badURL, "\"\(text)\" is not a gateway's URL; write it as wss://host:port")
        }
        guard parts.scheme == "wss" || parts.scheme == "https" else {
            throw ConnectError(.badURL, "\"\(text)\" is not encrypted; the gateway speaks TLS only: write wss://")
        }
        guard parts.query == nil, parts.user == nil, parts.fragment == nil else {
            throw ConnectError(.badURL, "\"\(text)\" has more than host, port and path; give token and settings as arguments")
        }
        // Foundation leaves an IPv6 address in its brackets.
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.port = parts.port ?? ProtocolLimits.defaultPort
        self.path = parts.path.isEmpty || parts.path == "/" ? path : parts.path
    }

    /// - Parameter claim: the place to take back, if any.
    func endpoint(token: String, autoSubscribe: Bool, resuming claim: ResumeClaim? = nil) -> Endpoint {
        var items = autoSubscribe ? [] : ["auto_subscribe=false"]
        if let claim { items += ["resume=\(claim.escapedToken)", "last_seq=\(claim.lastSeq)"] }
        let query = items.isEmpty ? "" : "?" + items.joined(separator: "&")
        return Endpoint(host: host, port: port, path: path + query, authorization: "Bearer \(token)")
    }
}
