import Foundation
import Identity
import Sockets
import Wire

/// Where the gateway is, whom we trust, and who signs: all that one needs to knock.
struct Gate: Sendable {
    var host: String
    var port: Int
    var path: String
    var trust: ClientTrust
    var signer: IssuerKey

    /// - Parameter url: `wss://host[:port][/path]`; the port defaults to 7880, the path to `/v1/rtc`.
    init(url: String, trust: ClientTrust, signer: IssuerKey) throws(UsageError) {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.scheme == "wss" else {
            throw UsageError("--url \(url): write it as wss://host:port; the gateway speaks TLS only")
        }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = parts.port ?? ProtocolLimits.defaultPort
        path = parts.path.isEmpty || parts.path == "/" ? "/v1/rtc" : parts.path
        self.trust = trust
        self.signer = signer
    }

    /// - Throws: `MintError` if the key cannot sign.
    func endpoint(room: String, identity: String, kind: ParticipantKind) throws(MintError) -> Endpoint {
        let claims = AccessToken(
            identity: identity, expires: Int64(Date().timeIntervalSince1970) + 21_600, kind: kind, video: .joining(room))
        let token = try TokenMinter.mint(claims, with: signer)
        return Endpoint(host: host, port: port, path: path, authorization: "Bearer \(token)")
    }
}
