import Foundation
import PatchbayClient
import Sockets
import Testing

@testable import patchbay

/// Errors of `serve` and of administration: one line that says what is wrong and what to do next.
@Suite(.timeLimit(.minutes(2)))
struct ErrorTests {
    private let folder: TemporaryFolder
    private let certificate: DevelopmentCertificate

    init() throws {
        folder = try TemporaryFolder()
        certificate = try DevelopmentCertificate.prepare()
    }

    private func complaint(_ arguments: [String], status: Int32 = 2) async throws -> String {
        let outcome = try await Program.run(nil, arguments, seconds: 20)
        #expect(outcome.status == status, "\(outcome.output)\(outcome.complaint)")
        #expect(outcome.complaint.split(separator: "\n").count == 1, "\(outcome.complaint)")
        return outcome.complaint
    }

    private func serve(_ arguments: String...) async throws -> String {
        try await complaint(["serve", "--dev", "--port", "0"] + arguments)
    }

    @Test func aMissingKeyFileIsNotThereRatherThanUnreadable() async throws {
        let path = folder.file("key.pem").path
        let said = try await serve("--cert", certificate.files.certificatePath, "--key", path)
        #expect(said.contains("cannot use \(path): there is no such file; check the path of the private key in --key or `key`"), "\(said)")
    }

    @Test func aKeyOfAnotherCertificateIsNamed() async throws {
        let other = try DevelopmentCertificate.prepare(environment: ["XDG_STATE_HOME": folder.url.path])
        try await checkNamed(other.files.privateKeyPath)
    }

    @Test(arguments: [["RSA", "-pkeyopt", "rsa_keygen_bits:2048"], ["ED25519"], ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"]])
    func aKeyOfAnotherTypeIsNamedAsAnotherCertificatesKey(algorithm: [String]) async throws {
        let path = folder.file("other.key.pem").path
        let made = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["openssl", "genpkey", "-out", path, "-algorithm"] + algorithm, seconds: 60)
        try #require(made.status == 0, "\(made.complaint)")
        try await checkNamed(path)
    }

    private func checkNamed(_ key: String) async throws {
        let said = try await serve("--cert", certificate.files.certificatePath, "--key", key)
        #expect(said.contains("it is not the key of the certificate \(certificate.files.certificatePath)"), "\(said)")
    }

    @Test func certificateAndKeyInEachOthersPlaceAreNoticed() async throws {
        let said = try await serve("--cert", certificate.files.privateKeyPath, "--key", certificate.files.certificatePath)
        #expect(said.contains("OpenSSL finds no certificate in it"), "\(said)")
        #expect(said.contains("--cert or `cert` names a PEM file with the certificate"), "\(said)")
    }

    @Test func aCertificateNeedsAKeyAndTheOtherWayRound() async throws {
        #expect(try await serve("--cert", certificate.files.certificatePath).contains("has no private key; pass --key"))
        #expect(try await serve("--key", certificate.files.privateKeyPath).contains("has no certificate; pass --cert"))
    }

    @Test(arguments: [["--ttl", "-5"], ["--ttl=-5"], ["--ttl", "0"], ["--ttl", "9223372036854775807"]])
    func aLifetimeThatIsNotPositiveIsNamed(arguments: [String]) async throws {
        let said = try await complaint(["token", "--room", "r", "--identity", "a"] + arguments)
        #expect(said.contains("must be positive, and at most 3155760000; pass seconds, such as --ttl 3600"), "\(said)")
    }

    @Test func negativeNumbersAreValuesOfOptions() async throws {
        #expect(try await complaint(["serve", "--dev", "--port", "-1"]).contains("port: -1 is not between 0 and 65535"))
        #expect(try await complaint(["serve", "--dev", "--shards", "-1"]).contains("shards: -1 is not between 1 and 256"))
        #expect(try await complaint(["join", "--duration", "-1"]).contains("--duration -1.0: pass 0 to"))
    }

    @Test(arguments: [
        ["room", "list"], ["participant", "remove", "lobby", "ann"], ["dispatch", "list", "--room", "lobby"],
        ["join", "--room", "lobby", "--identity", "ann"],
    ])
    func aRefusedConnectionIsOneSentenceWithoutInternals(command: [String]) async throws {
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        listener.close()
        let said = try await complaint(command + ["--dev", "--url", "wss://127.0.0.1:\(listener.port)"], status: 1)
        #expect(
            said
                == "patchbay: no gateway answers at 127.0.0.1 port \(listener.port): the connection was refused; check host and port, and that "
                + "the gateway runs\n")
    }

    @Test func aHostNameIsNoAddress() async throws {
        #expect(try await serve("--host", "localhost").contains("host: \"localhost\" is not a numeric address; use 127.0.0.1"))
    }

    @Test func aMasterKeyThatCannotBeMadeSaysHowToMakeIt() async throws {
        let path = folder.file("none/master.key").path
        let said = try await serve("--data", folder.file("data").path, "--master-key", path)
        #expect(
            said.contains("No such file or directory. Check the path, or create it yourself with `openssl rand -hex 32 > \(path)`"),
            "\(said)")
    }

    @Test func aStoreInUseNamesTheProcess() async throws {
        let data = folder.file("data").path
        let gateway = try await ServedGateway(["--data", data])
        // Systemd tries again after 1, not after 2.
        let said = try await complaint(["serve", "--dev", "--port", "0", "--data", data], status: 1)
        #expect(said.contains("is in use by the gateway, process \(gateway.processID); stop it first"), "\(said)")
        #expect(said.contains("or pass another directory with --data"), "\(said)")
    }

    @Test func anUntrustedCertificateNamesTheOptions() async throws {
        let gateway = try await ServedGateway()
        let outcome = try await Program.run(nil, ["room", "list", "--url", gateway.url], seconds: 20)
        #expect(outcome.status == 1)
        #expect(outcome.complaint.contains("is not trusted; pass the PEM file"), "\(outcome.complaint)")
        #expect(outcome.complaint.contains("--ca (or --dev") && outcome.complaint.contains("RoomOptions.trust"), "\(outcome.complaint)")
    }

    @Test func aRoomNameWithASlashIsExplained() async throws {
        let gateway = try await ServedGateway()
        let outcome = try await Program.run(nil, ["room", "show", "a/b", "--dev", "--url", gateway.url], seconds: 20)
        #expect(outcome.status == 1)
        #expect(outcome.complaint.contains("\"a/b\" cannot be part of an HTTP path; use names without `/`"), "\(outcome.complaint)")
        let answer = try await gateway.administrator().get("/v1/rooms/a%2Fb")
        #expect(answer.status == 404)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("names of rooms and participants that contain `/`"))
    }
}
