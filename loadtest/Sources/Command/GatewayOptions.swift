import ArgumentParser
import Foundation
import Identity
import Sockets
import Wire

/// Options for the gateway's address, trust and signing key, named as in `patchbay join`.
struct GatewayOptions: ParsableArguments {
    @Option(help: "The gateway's URL; ws:// for its plain port.")
    var url = "wss://127.0.0.1:7880"
    @Flag(help: "For development: trust the certificate authority of `make certs` and sign with devkey.")
    var dev = false
    @Option(help: "A PEM file with an additional trusted certificate authority.")
    var ca: String?
    @Flag(help: "Trust any certificate. For experiments only.")
    var insecure = false
    @Option(name: .customLong("api-key"), help: "The issuer (environment: PATCHBAY_API_KEY; default devkey).")
    var apiKey: String?
    @Option(name: .customLong("api-secret"), help: "Its secret (environment: PATCHBAY_API_SECRET; for devkey: secret).")
    var apiSecret: String?

    @Option(
        help: ArgumentHelp(
            "Join rooms with tokens from this file or pipe, - for standard input: a line {\"tokens\":[…]} per call, a token per member.",
            valueName: "file"))
    var rooms: String?

    private static let developmentAuthority = "certs/dev/ca.cert.pem"

    func target() throws(UsageError) -> GatewayTarget {
        try GatewayTarget(url: url, trust: trust(), signer: signer())
    }

    /// The source of `--rooms`.
    ///
    /// - Throws: `UsageError` if it does not fit the scenario.
    func feed(for scenario: Scenario, isSearching: Bool) throws(UsageError) -> RoomFeed? {
        guard let rooms else { return nil }
        guard scenario.meanCallSeconds != nil, scenario.reconnectStorm == nil, !isSearching else {
            throw UsageError("--rooms requires calls that end (--mean-call), without reconnections and --find-capacity")
        }
        return try RoomFeed(rooms, membersPerCall: scenario.membersPerCall)
    }

    private func trust() throws(UsageError) -> ClientTrust {
        if insecure { return .anybody }
        guard let path = ca ?? (dev ? Self.developmentAuthority : nil) else { return .system }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw UsageError(
                ca == nil
                    ? "\(path) does not exist; run `make certs`, start from the package directory, or pass --ca"
                    : "--ca \(path): the file cannot be read")
        }
        return .authority(path: path)
    }

    private func signer() throws(UsageError) -> IssuerKey {
        let environment = ProcessInfo.processInfo.environment
        let issuer = apiKey ?? environment["PATCHBAY_API_KEY"] ?? "devkey"
        guard let secret = apiSecret ?? environment["PATCHBAY_API_SECRET"] ?? (issuer == "devkey" ? "secret" : nil) else {
            throw UsageError("no secret for the key \(issuer); pass --api-secret or set PATCHBAY_API_SECRET")
        }
        do {
            let ring = try KeyRing([IssuerSettings(issuer: issuer, algorithm: .hs256, key: SecretText(secret))])
            guard let signer = ring.signer else { throw UsageError("the key \(issuer) cannot sign tokens; use one with a secret") }
            return signer
        } catch {
            throw UsageError("\(error)")
        }
    }
}

/// The gateway's address, the authority to trust, and the key that signs tokens.
struct GatewayTarget: Sendable {
    var host: String
    var port: Int
    var path: String
    var usesTLS: Bool
    var trust: ClientTrust
    var signer: IssuerKey

    /// - Parameter url: `wss://host[:port][/path]`, or `ws://` without TLS; the port defaults to 443 or 80, the path to `/v1/rtc`.
    init(url: String, trust: ClientTrust, signer: IssuerKey) throws(UsageError) {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, let scheme = parts.scheme,
            ["wss", "ws"].contains(scheme)
        else { throw UsageError("--url \(url): write it as wss://host:port, or ws://host:port for the gateway's plain port") }
        usesTLS = scheme == "wss"
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = parts.port ?? (usesTLS ? 443 : 80)
        path = parts.path.isEmpty || parts.path == "/" ? "/v1/rtc" : parts.path
        self.trust = trust
        self.signer = signer
    }

    /// - Throws: `MintError` if the key cannot sign.
    func endpoint(room: String, identity: String, kind: ParticipantKind) throws(MintError) -> Endpoint {
        let claims = AccessToken(
            identity: identity, expires: Int64(Date().timeIntervalSince1970) + 21_600, kind: kind, video: .joining(room))
        let token = try TokenMinter.mint(claims, with: signer)
        return endpoint(token: token)
    }

    func endpoint(token: String) -> Endpoint {
        Endpoint(host: host, port: port, path: path, authorization: "Bearer \(token)", usesTLS: usesTLS)
    }
}
