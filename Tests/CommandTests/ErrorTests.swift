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

    private func complaint(_ arguments: [String]) async throws -> String {
        let outcome = try await Program.run(nil, arguments, seconds: 20)
        #expect(outcome.status == 2, "\(outcome.output)\(outcome.complaint)")
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
        let said = try await serve("--cert", certificate.files.certificatePath, "--key", other.files.privateKeyPath)
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
        let said = try await serve("--data", data)
        #expect(said.contains("is in use by the gateway with process ID \(gateway.processID); stop it first"), "\(said)")
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
