import TestProcesses
import Testing

@testable import Cluster

/// Credentials, encryption, and servers that do not offer what is needed.
@Suite(.enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(1)))
struct NATSSecurityTests {
    /// Connects, and writes a record.
    private func use(_ settings: NATSSettings) async throws {
        let broker = try await NATSBroker.start(settings, onEvent: { _ in })
        _ = try await broker.write([1], of: "k", after: 0)
        await broker.close()
    }

    private func problem(_ settings: NATSSettings) async -> NATSError? {
        do throws(NATSError) {
            await (try NATSBroker.start(settings, onEvent: { _ in })).close()
            return nil
        } catch {
            return error
        }
    }

    @Test func onlyTheRightPasswordIsAccepted() async throws {
        let server = try NATSServer { _ in ["authorization { user: node, password: tops3cret }"] }
        var settings = server.settings()
        #expect(await problem(settings) == .notAuthorized)
        settings.credentials = .user("node", password: "wr0ng")
        #expect(await problem(settings) == .notAuthorized)
        settings.credentials = .user("node", password: "tops3cret")
        try await use(settings)
    }

    @Test func onlyTheRightTokenIsAccepted() async throws {
        let server = try NATSServer { _ in ["authorization { token: tops3cret }"] }
        var settings = server.settings()
        settings.credentials = .token("wr0ng")
        #expect(await problem(settings) == .notAuthorized)
        settings.credentials = .token("tops3cret")
        try await use(settings)
    }

    @Test func subjectsThatAreNotPermittedAreReported() async throws {
        let server = try NATSServer { _ in
            [#"authorization { users: [{ user: node, password: p, permissions: { subscribe: ["_INBOX.>", "news"] } }] }"#]
        }
        var settings = server.settings("news")
        settings.credentials = .user("node", password: "p")
        try await use(settings)
        settings.subjects.append("other")
        guard case .notPermitted(let reason)? = await problem(settings) else { return #expect(Bool(false)) }
        #expect(reason.contains("other"))
    }

    @Test func aServerWithoutJetStreamIsReported() async throws {
        let server = try NATSServer(hasJetStream: false)
        #expect(await problem(server.settings()) == .noJetStream)
    }

    @Test func anAccountWithoutJetStreamIsReported() async throws {
        let server = try NATSServer { _ in
            ["accounts { A { users: [{ user: node, password: p }] } }"]
        }
        var settings = server.settings()
        settings.credentials = .user("node", password: "p")
        #expect(await problem(settings) == .noJetStream)
    }

    @Test func moreReplicasThanServersAreReported() async throws {
        let server = try NATSServer()
        var settings = server.settings()
        settings.replicas = 3
        guard case .bucket(let reason)? = await problem(settings) else { return #expect(Bool(false)) }
        #expect(reason.contains("replicas"))
        settings.replicas = 6
        guard case .invalid? = await problem(settings) else { return #expect(Bool(false)) }
    }

    @Test func anAbsentServerIsReported() async throws {
        let settings = NATSSettings(servers: ["127.0.0.1:\(try NATSServer.freePort())"], bucket: "b", subjects: [])
        guard case .unreachable? = await problem(settings) else { return #expect(Bool(false)) }
    }

    @Test func onlyATrustedServerIsUsed() async throws {
        let server = try NATSServer { folder in
            try Lifeline.makeCertificate(for: "IP:127.0.0.1", at: folder + "/server.pem", keyPath: folder + "/server.key")
            try Lifeline.makeCertificate(for: "IP:127.0.0.1", at: folder + "/stranger.pem", keyPath: folder + "/stranger.key")
            return ["tls { cert_file: \"\(folder)/server.pem\", key_file: \"\(folder)/server.key\" }"]
        }
        var settings = server.settings()
        // The server demands TLS, and the system does not know its authority.
        guard case .tls? = await problem(settings) else { return #expect(Bool(false)) }
        settings.tls = .init(authorities: server.folder + "/stranger.pem")
        guard case .tls? = await problem(settings) else { return #expect(Bool(false)) }
        settings.tls = .init(authorities: server.folder + "/absent.pem")
        guard case .tls? = await problem(settings) else { return #expect(Bool(false)) }
        settings.tls = .init(authorities: server.folder + "/server.pem")
        try await use(settings)
        // A name that the certificate does not have.
        settings.servers = ["localhost:\(server.port)"]
        guard case .tls? = await problem(settings) else { return #expect(Bool(false)) }
    }

    @Test func aServerThatDoesNotEncryptIsNotUsedWithTLS() async throws {
        let server = try NATSServer()
        var settings = server.settings()
        settings.tls = .init()
        #expect(await problem(settings) == .tls("the server does not encrypt"))
    }

    @Test func aClientCertificateIsShown() async throws {
        let server = try NATSServer { folder in
            try Lifeline.makeCertificate(for: "IP:127.0.0.1", at: folder + "/server.pem", keyPath: folder + "/server.key")
            try Lifeline.makeCertificate(for: "DNS:client.example", at: folder + "/client.pem", keyPath: folder + "/client.key")
            let files = "cert_file: \"\(folder)/server.pem\", key_file: \"\(folder)/server.key\", ca_file: \"\(folder)/client.pem\""
            return ["tls { \(files), verify: true }"]
        }
        var settings = server.settings()
        settings.tls = .init(authorities: server.folder + "/server.pem")
        #expect(await problem(settings) != nil)
        settings.tls?.certificate = (server.folder + "/client.pem", server.folder + "/client.key")
        try await use(settings)
    }
}
