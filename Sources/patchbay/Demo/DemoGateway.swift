import Foundation
import Gateway
import Identity
import PatchbayClient
import Sockets
import TLSFastPath
import Wire

/// A real gateway in this process, with the development certificate and key.
struct DemoGateway: Sendable {
    let url: String
    private let key: IssuerKey
    private let certificate: DevelopmentCertificate
    private let gateway: Gateway

    /// Runs a gateway while `body` runs.
    static func run<Result: Sendable>(_ body: @Sendable (DemoGateway) async throws -> Result) async throws -> Result {
        let keys = try KeyRing([IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))])
        let certificate = try DevelopmentCertificate.prepare()
        let gateway: Gateway
        do {
            gateway = try Gateway(
                settings: GatewaySettings(port: 0, tls: certificate.files, recordLayer: TLSFastPath(.auto), version: Version.text),
                keys: keys)
        } catch let error as TLSFileError {
            throw UsageError("\(error)")
        }
        guard let key = keys.signer else { throw UsageError("the development key cannot sign") }
        let demo = DemoGateway(url: "wss://127.0.0.1:\(gateway.port)", key: key, certificate: certificate, gateway: gateway)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await gateway.run() }
            // The first call waits until all participants have left, the second one does not.
            defer { for _ in 1...2 { gateway.drain() } }
            return try await body(demo)
        }
    }

    func join(
        _ identity: String, name: String = "", kind: ParticipantKind = .standard, room: String = "demo"
    ) async throws -> RoomConnection {
        let now = Int64(Date().timeIntervalSince1970)
        let token = try TokenMinter.mint(
            AccessToken(identity: identity, notBefore: now - 5, expires: now + 600, name: name, kind: kind, video: .joining(room)),
            with: key)
        return try await RoomConnection.connect(
            url: url, token: token, options: RoomOptions(trust: .authority(path: certificate.authorityPath), reconnect: .never))
    }

    /// Frames that the gateway has sent to subscribers; updated once a second.
    var framesRelayed: UInt64 {
        gateway.metrics.snapshot.reduce(0) { $0 + $1.framesOut }
    }
}
