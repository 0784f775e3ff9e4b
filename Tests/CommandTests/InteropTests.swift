import Foundation
import Testing

/// A client that shares no code with us, with LiveKit's own tokens, against the real gateway.
@Suite(.timeLimit(.minutes(5)))
struct InteropTests {
    @Test func pythonInteropChecksPass() async throws {
        let python = Program.package.appending(path: ".venv-interop/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path),
            "the interop tests need their Python environment: run `make interop` (or `make test`, which does it)")
        // The contract's 20 s would be waited for by every check that loses a connection.
        let resumeSeconds = "5"
        let gateway = try await ServedGateway(environment: ["PATCHBAY_RESUME_SECONDS": resumeSeconds])
        let outcome = try await Program.run(
            python,
            [
                "-W", "ignore", "Tests/Interop/interop.py", "--url", gateway.url, "--ca", "certs/dev/ca.cert.pem", "--key", "devkey",
                "--secret", "secret", "--resume-seconds", resumeSeconds,
            ], seconds: 240)
        #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
    }
}

/// Kills a gateway under load and waits up to 90 s for the webhooks that the next start sends.
@Suite(.timeLimit(.minutes(5)))
struct KillTests {
    @Test func acknowledgedDataSurvivesAKill() async throws {
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/env"),
            ["python3", "Tests/Interop/kill_gateway.py", "--patchbay", try Program.executable.path, "--rounds", "8"], seconds: 240)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
    }
}
