import Foundation
import Identity
import TestProcesses
import TestStore
import Testing

@testable import Store

/// Connections over TLS to a server that must prove its name.
@Suite(.enabled(if: PostgresServer.isInstalled))
struct PostgresTLSTests {
    private let server: SecureServer

    init() throws { server = try SecureServer.shared.get() }

    /// - Returns: a connection string of a new database of the role that needs a password.
    private func target(
        _ eavesdropper: Eavesdropper, host: String = SecureServer.name, authority: SelfSignedCertificate? = nil,
        mode: String = "verify-full"
    ) throws -> (String, database: String) {
        let database = String(try server.server.makeDatabase().split(separator: "=").last ?? "")
        try server.server.run("ALTER DATABASE \(database) OWNER TO \(PostgresServer.lockedRole)")
        let authority = authority ?? server.certificate
        let place = "host=\(host) hostaddr=127.0.0.1 port=\(eavesdropper.port) dbname=\(database)"
        return ("\(place) user=\(PostgresServer.lockedRole) sslmode=\(mode) sslrootcert=\(authority.path)", database)
    }

    @Test func aStoreWhoseServerIsVerifiedSendsNothingInClear() async throws {
        let eavesdropper = try Eavesdropper(before: server.address)
        let (target, database) = try target(eavesdropper)
        let settings = PostgresSettings(target: target, password: "tops3cret")
        let store = try Store(postgres: settings, masterKeys: [MasterKey()], passwordCost: StoreWorld.quickCost)
        _ = try await store.accounts.createUser(email: "ann@example.org", password: StoreWorld.password, at: StoreWorld.start)
        #expect(try await store.verify() == StoreReport(users: 1))
        try store.close()
        let connection = try PostgresConnection(settings)
        let encryption = try connection.execute("SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        #expect(try encryption.integer(0, 0) == 1)
        #expect(try encryption.text(0, 1) == "TLSv1.3")
        #expect(eavesdropper.heard(PostgresServer.lockedRole, database, "tops3cret", "SELECT", "patchbay", "users") == [])
    }

    @Test func aServerThatDemandsTLSRefusesOthersAndAnEavesdropperWouldHearThem() throws {
        let eavesdropper = try Eavesdropper(before: server.address)
        let (target, database) = try target(eavesdropper, mode: "disable")
        let error = #expect(throws: PostgresError.self) { try PostgresConnection(PostgresSettings(target: target, password: "tops3cret")) }
        #expect(error?.kind == .unreachable && error?.message.contains("no encryption") == true, "\(error as Any)")
        #expect(eavesdropper.heard(database) == [database])
    }

    @Test func aServerWithAnotherAuthorityOrNameIsRefusedWithARemedyBeforeAnythingIsSent() throws {
        let cases: [(host: String, authority: SelfSignedCertificate, sentence: String)] = [
            (SecureServer.name, try SelfSignedCertificate(for: "other.example"), "certificate verify failed; set sslrootcert to"),
            ("other.example", server.certificate, "does not match host name \"other.example\"; use a name of the server's certificate"),
        ]
        for (host, authority, sentence) in cases {
            let eavesdropper = try Eavesdropper(before: server.address)
            let (target, database) = try target(eavesdropper, host: host, authority: authority)
            let error = #expect(throws: StoreError.self) {
                try Store(postgres: PostgresSettings(target: target, password: "tops3cret"), masterKeys: [MasterKey()])
            }
            #expect(error?.description.contains(sentence) == true, "\(error as Any)")
            #expect(eavesdropper.heard(PostgresServer.lockedRole, database, "tops3cret", "patchbay") == [])
        }
    }

    @Test func aServerWithoutTLSIsRefusedAndHearsTheQuestionOnly() throws {
        let eavesdropper = try Eavesdropper(before: nil)
        let (target, _) = try target(eavesdropper)
        let error = #expect(throws: StoreError.self) {
            try Store(postgres: PostgresSettings(target: target, password: "tops3cret"), masterKeys: [MasterKey()])
        }
        #expect(error?.description.contains("server does not support SSL, but SSL was required; set up TLS") == true, "\(error as Any)")
        // `SSLRequest`: its length and the code 80877103.
        #expect(eavesdropper.bytes == [0, 0, 0, 8, 4, 210, 22, 47])
    }

    @Test func aMissingAuthorityIsNamed() throws {
        let target = "host=db.example hostaddr=\(server.address) user=u dbname=d sslmode=verify-full sslrootcert=/nonexistent/ca.pem"
        let error = #expect(throws: StoreError.self) { try Store(postgres: PostgresSettings(target: target), masterKeys: [MasterKey()]) }
        #expect(error?.description.contains("root certificate file \"/nonexistent/ca.pem\" does not exist") == true, "\(error as Any)")
    }
}

/// A server on a loopback address of its own that accepts connections over TLS only.
private final class SecureServer: Sendable {
    static let shared = Result { try SecureServer() }
    static let name = "db.example"

    let certificate: SelfSignedCertificate
    let address: String
    let server: PostgresServer

    private init() throws {
        let certificate = try SelfSignedCertificate(for: Self.name)
        self.certificate = certificate
        // A random loopback address, so that no other server uses it.
        address = "127.\(Int.random(in: 100...250)).\(Int.random(in: 1...250)).\(Int.random(in: 2...250))"
        server = try PostgresServer(
            options: ["listen_addresses=\(address)", "ssl=on"], access: ["hostssl all all 127.0.0.0/8 scram-sha-256"]
        ) {
            for (from, to) in [(certificate.path, "/server.crt"), (certificate.keyPath, "/server.key")] {
                try FileManager.default.copyItem(atPath: from, toPath: $0.dataFolder + to)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: $0.dataFolder + to)
                PostgresServer.giveAway($0.dataFolder + to)
            }
        }
    }
}

/// A certificate that is its own authority.
private final class SelfSignedCertificate: Sendable {
    private let folder = "/tmp/pb-\(UUID().uuidString.prefix(13))"
    var path: String { folder + "/certificate.pem" }
    var keyPath: String { folder + "/key.pem" }

    init(for name: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Lifeline.makeCertificate(for: "DNS:\(name)", at: path, keyPath: keyPath)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}
