import Foundation
import Testing

/// A client that shares no code with us, with LiveKit's own tokens, against the real gateway.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct InteropTests {
    @Test(arguments: ["auto", "off"])
    func pythonInteropChecksPass(fastPath: String) async throws {
        let python = Program.package.appending(path: ".venv-interop/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path),
            "the interop tests need their Python environment: run `make interop` (or `make test`, which does it)")
        // The contract's 20 s would be waited for by every check that loses a connection.
        let resumeSeconds = "5"
        // With a store and `record_sessions`: recordings are those of sessions.
        let folder = try TemporaryFolder()
        let gateway = try await ServedGateway(
            ["--data", folder.file("data").path],
            environment: [
                "PATCHBAY_RESUME_SECONDS": resumeSeconds, "PATCHBAY_TLS_FAST_PATH": fastPath, "PATCHBAY_RECORD_SESSIONS": "true",
            ])
        let outcome = try await Program.run(
            python,
            [
                "-W", "ignore", "Tests/Interop/interop.py", "--url", gateway.url, "--ca", "certs/dev/ca.cert.pem", "--key", "devkey",
                "--secret", "secret", "--resume-seconds", resumeSeconds,
            ], seconds: 240)
        withExtendedLifetime(folder) {}
        #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
    }
}

/// The server with which `PatchbayAgentsTests` checks our client of OpenAI's API, checked with the official client.
@Suite(.timeLimit(.minutes(2)))
struct OpenAIEmulatorTests {
    @Test func theOfficialClientUnderstandsTheEmulator() async throws {
        let python = Program.package.appending(path: ".venv-interop/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path),
            "this test needs the Python environment of the interop tests: run `make interop` (or `make test`, which does it)")
        let outcome = try await Program.run(python, ["-W", "ignore", "Tests/Interop/providers/contract.py"], seconds: 100)
        #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
    }
}

/// A gateway that is killed with SIGKILL. Its pending webhooks may take up to a minute and a half after the restart.
@Suite(.timeLimit(.minutes(5)))
struct KillTests {
    @Test func acknowledgedDataSurvivesAKill() async throws {
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/env"),
            ["python3", "Tests/Interop/kill_gateway.py", "--patchbay", try Program.executable.path, "--rounds", "8"], seconds: 240)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
    }
    /// Deliveries whose result could not be stored are repeated after 30 seconds.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/lib/postgresql")))
    func acknowledgedDataInPostgreSQLSurvivesKillsOfGatewayAndServer() async throws {
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/env"),
            [
                "python3", "Tests/Interop/kill_gateway.py", "--patchbay", try Program.executable.path, "--postgres", "--rounds", "1",
                "--kill-server", "2",
            ], seconds: 240)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
    }
    @Test func aKillEndsOpenRoomsAndCallsWithOneWebhookEach() async throws {
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/env"),
            ["python3", "Tests/Interop/kill_open_calls.py", "--patchbay", try Program.executable.path], seconds: 200)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
    }
}
