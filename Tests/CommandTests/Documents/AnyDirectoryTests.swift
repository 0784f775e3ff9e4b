import Audio
import Foundation
import Sockets
import Testing

@testable import patchbay

/// `--dev` and `demo` outside the repository, and paths of a configuration file.
@Suite(.timeLimit(.minutes(2)))
struct AnyDirectoryTests {
    private let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        environment = ["XDG_STATE_HOME": folder.file("state").path]
    }

    private func elsewhere(_ arguments: [String], seconds: Double = 60) async throws -> Program.Outcome {
        let command = ["-C", folder.url.path, try Program.executable.path] + arguments
        return try await Program.run(URL(filePath: "/usr/bin/env"), command, environment: environment, seconds: seconds)
    }

    @Test func theDevelopmentCertificateIsMadeOnFirstUse() async throws {
        let first = try await elsewhere(["serve", "--dev", "--port", "0", "--check"])
        #expect(first.status == 0, "\(first.output)\(first.complaint)")
        let directory = folder.file("state/patchbay/dev-certs").path
        #expect(first.complaint.contains("created development certificates in \(directory)"), "\(first.complaint)")
        let certificate = try DevelopmentCertificate.prepare(environment: environment)
        #expect(certificate.directory == directory)
        let made = try Data(contentsOf: URL(filePath: certificate.files.certificatePath))

        let gateway = try await ServedGateway(environment: environment)
        let list = try await elsewhere(["room", "list", "--dev", "--url", gateway.url])
        #expect(list.status == 0 && list.complaint.isEmpty, "\(list.output)\(list.complaint)")
        #expect(try Data(contentsOf: URL(filePath: certificate.files.certificatePath)) == made)
    }

    @Test func anUnwritableStateDirectoryIsOneClearLine() async throws {
        let file = folder.file("occupied")
        try Data().write(to: file)
        let outcome = try await Program.run(
            nil, ["serve", "--dev", "--port", "0"], environment: ["XDG_STATE_HOME": file.path], seconds: 20)
        #expect(outcome.status == 2)
        #expect(outcome.complaint.contains("set XDG_STATE_HOME to a directory that you may write to"), "\(outcome.complaint)")
        #expect(outcome.complaint.split(separator: "\n").count == 1, "\(outcome.complaint)")
    }

    @Test func theStateDirectoryFollowsTheEnvironment() {
        #expect(DevelopmentCertificate.stateDirectory(["XDG_STATE_HOME": "/var/state", "HOME": "/home/ann"]) == "/var/state/patchbay")
        #expect(
            DevelopmentCertificate.stateDirectory(["XDG_STATE_HOME": "relative", "HOME": "/home/ann"]) == "/home/ann/.local/state/patchbay")
    }

    @Test func pathsOfAConfigurationAreRelativeToIt() async throws {
        let certificate = try DevelopmentCertificate.prepare()
        for name in ["server.cert.pem", "server.key.pem"] {
            try FileManager.default.copyItem(atPath: "\(certificate.directory)/\(name)", toPath: folder.file(name).path)
        }
        let settings = """
            port: 0
            cert: server.cert.pem
            key: ./server.key.pem
            keys: {my-app: a-secret-of-at-least-32-characters}
            data: data
            master_key_file: master.key
            public_url: wss://127.0.0.1:7880

            """
        try settings.write(to: folder.file("patchbay.yaml"), atomically: true, encoding: .utf8)
        // From the package directory.
        let outcome = try await Program.run(nil, ["serve", "--check", "--config", folder.file("patchbay.yaml").path], seconds: 20)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
        #expect(outcome.output.contains("certificate: \(folder.url.path)/server.cert.pem"), "\(outcome.output)")
        #expect(outcome.output.contains("store: \(folder.url.path)/data: ok"), "\(outcome.output)")
    }

    @Test func recordingsAreFoundFromTheExecutable() throws {
        let installed = folder.file("usr")
        for name in ["bin", "share/patchbay/demo"] {
            try FileManager.default.createDirectory(at: installed.appending(path: name), withIntermediateDirectories: true)
        }
        let executable = installed.appending(path: "bin/patchbay")
        #expect(throws: UsageError.self) { try DemoRecordings(executable: executable) }
        let recording = Program.package.appending(path: "demo/\(DemoRecordings.relay)")
        try FileManager.default.copyItem(at: recording, to: installed.appending(path: "share/patchbay/demo/\(DemoRecordings.relay)"))
        #expect(try DemoRecordings(executable: executable).sound(DemoRecordings.relay).duration > .zero)
        #expect(try DemoRecordings(executable: Program.executable).sound(DemoRecordings.relay).duration > .zero)
    }
}
