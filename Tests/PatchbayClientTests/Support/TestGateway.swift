import Backend
import Engine
import Foundation
import Gateway
import Identity
import PatchbayClient
import Sockets
import Wire

/// A real gateway on a free loopback port, over TLS with certificates created for this run.
struct TestGateway: Sendable {
    let url: String
    let keys: KeyRing
    private let gateway: Gateway

    /// Runs a gateway during `body`.
    static func run(
        room: RoomSettings = RoomSettings(), auditEvents: AuditEventQueue? = nil, _ body: @Sendable (TestGateway) async throws -> Void
    ) async throws {
        let files = try TestCertificates.shared.get()
        let keys = try KeyRing([IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))])
        let gateway = try Gateway(
            settings: GatewaySettings(
                port: 0, tls: TLSFiles(certificatePath: files.certificate, privateKeyPath: files.privateKey), room: room), keys: keys,
            auditEvents: auditEvents)
        let test = TestGateway(url: "wss://127.0.0.1:\(gateway.port)", keys: keys, gateway: gateway)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await gateway.run() }
            // The first call waits for empty rooms, the second one does not.
            defer { for _ in 1...2 { gateway.drain() } }
            while gateway.state.phase != .serving { try await Task.sleep(for: .milliseconds(1)) }
            try await body(test)
        }
    }

    var options: RoomOptions { RoomOptions(trust: .authority(path: (try? TestCertificates.shared.get().authority) ?? "")) }

    func token(
        _ identity: String, room: String = "lobby", kind: ParticipantKind = .standard, expiresIn seconds: Int64 = 600,
        change: (inout VideoGrant) -> Void = { _ in }
    ) throws -> String {
        guard let key = keys.signer else { return "" }
        var grant = VideoGrant.joining(room)
        grant.canUpdateOwnMetadata = true
        change(&grant)
        let now = Int64(Date().timeIntervalSince1970)
        return try TokenMinter.mint(
            AccessToken(identity: identity, notBefore: now - 3_600, expires: now + seconds, kind: kind, video: grant), with: key)
    }

    func join(_ identity: String, room: String = "lobby", kind: ParticipantKind = .standard) async throws -> RoomConnection {
        try await RoomConnection.connect(url: url, token: try token(identity, room: room, kind: kind), options: options)
    }
}

/// Created once per run in a directory of their own.
struct TestCertificates {
    let certificate: String
    let privateKey: String
    let authority: String

    static let shared = Result { try TestCertificates() }

    private init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let directory = FileManager.default.temporaryDirectory.appending(path: "patchbay-client-tests-\(getpid())").path
        let make = Process()
        make.executableURL = root.appending(path: "certs/make-dev-certs")
        make.arguments = ["--dir", directory]
        make.standardOutput = FileHandle.nullDevice
        try make.run()
        make.waitUntilExit()
        certificate = directory + "/server.cert.pem"
        privateKey = directory + "/server.key.pem"
        authority = directory + "/ca.cert.pem"
    }
}
