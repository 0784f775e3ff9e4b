import Backend
import Foundation
import Gateway
import HTTPServer
import Identity
import PatchbayClient
import Sockets
import TLSFastPath
import Wire

/// A real gateway in this process, with the development certificate and key. It dispatches assistants and serves the playground.
struct DemoGateway: Sendable {
    let url: String
    private let key: IssuerKey
    private let certificate: DevelopmentCertificate
    private let gateway: Gateway
    private let dispatch: DispatchService

    /// Runs a gateway while `body` runs.
    static func run<Result: Sendable>(_ body: @Sendable (DemoGateway) async throws -> Result) async throws -> Result {
        let keys = try KeyRing([IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))])
        let certificate = try DevelopmentCertificate.prepare()
        let demo = try DemoGateway(certificate, keys)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await demo.gateway.run() }
            group.addTask { try await demo.dispatch.run() }
            // The first call waits until all participants have left, the second one does not.
            defer { for _ in 1...2 { demo.gateway.drain() } }
            return try await body(demo)
        }
    }

    private init(_ certificate: DevelopmentCertificate, _ keys: KeyRing) throws {
        guard let key = keys.signer else { throw UsageError("the development key cannot sign") }
        let settings = GatewaySettings(port: 0, tls: certificate.files, recordLayer: TLSFastPath(.auto), version: Version.text)
        let (inbox, assistants) = (DispatchInbox(), AssistantDirectory())
        var service: DispatchService?
        do {
            gateway = try Gateway(settings: settings, keys: keys, dispatch: inbox) { rooms, keys in
                let dispatch = DispatchService(
                    inbox: inbox, rooms: rooms, keys: keys, server: settings.serverInfo, definition: { assistants.definition($0) })
                service = dispatch
                return AssistantRoutes.routes(assistants, keys: keys) + DispatchRoutes.routes(dispatch, keys: keys)
                    + DevelopmentRoutes.routes(keys: keys, assistants: assistants, dispatch: inbox.registry)
            }
        } catch let error as TLSFileError {
            throw UsageError("\(error)")
        }
        guard let service else { preconditionFailure("a gateway asks for its routes") }
        dispatch = service
        url = "wss://127.0.0.1:\(gateway.port)"
        self.key = key
        self.certificate = certificate
    }

    /// The playground.
    var pageURL: String { "https://localhost:\(gateway.port)/" }

    var trust: TLSTrust { .authority(path: certificate.authorityPath) }

    func join(
        _ identity: String, name: String = "", kind: ParticipantKind = .standard, room: String = "demo"
    ) async throws -> RoomConnection {
        let token = try token(identity, name: name, kind: kind, grant: .joining(room))
        return try await RoomConnection.connect(url: url, token: token, options: RoomOptions(trust: trust, reconnect: .never))
    }

    /// The token with which a worker of the built-in assistant registers.
    func assistantToken() throws -> String {
        var grant = VideoGrant()
        grant.agent = true
        return try token("assistant:\(AssistantDefinition.builtIn.id)", kind: .agent, grant: grant)
    }

    private func token(_ identity: String, name: String = "", kind: ParticipantKind, grant: VideoGrant) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        return try TokenMinter.mint(
            AccessToken(identity: identity, notBefore: now - 5, expires: now + 600, name: name, kind: kind, video: grant), with: key)
    }

    /// Frames that the gateway has sent to subscribers; updated once a second.
    var framesRelayed: UInt64 {
        gateway.metrics.snapshot.reduce(0) { $0 + $1.framesOut }
    }
}
