import Foundation
import Testing

/// `patchbay serve --check`, and the TLS fast path's setting in all sources.
@Suite(.timeLimit(.minutes(2)))
struct ServeCheckTests {
    private static let off = "TLS fast path: off (switched off by configuration)"

    private func check(_ arguments: [String] = [], port: Int = 0, environment: [String: String] = [:]) async throws -> Program.Outcome {
        // The suite may run with the variable set.
        let environment = ["PATCHBAY_TLS_FAST_PATH": "auto"].merging(environment) { $1 }
        return try await Program.run(
            nil, ["serve", "--check", "--dev", "--port", String(port)] + arguments, environment: environment, seconds: 20)
    }

    @Test func checkPrintsWhatTheGatewayWouldUse() async throws {
        let outcome = try await check()
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
        let lines = outcome.output.split(separator: "\n")
        for start in ["configuration: ok", "certificate: ", "keys: ok", "store: none", "ports: any free one", "open files: at most "] {
            #expect(lines.contains { $0.hasPrefix(start) }, "no line \"\(start)\" in \(outcome.output)")
        }
    }

    @Test func theFastPathIsAutomaticByDefault() async throws {
        let outcome = try await check()
        let state = try #require(outcome.output.split(separator: "\n").first { $0.hasPrefix("TLS fast path: ") })
        #expect(state.contains(/: on \(OpenSSL .+, trial passed\)$|: off \(OpenSSL .+ is not one of the tested releases .+\)$/))
    }

    @Test func aFlagSwitchesTheFastPathOff() async throws {
        let outcome = try await check(["--tls-fast-path", "off"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains(Self.off), "\(outcome.output)")
    }

    @Test func theEnvironmentSwitchesTheFastPathOffUnlessAFlagSaysOtherwise() async throws {
        let off = try await check(environment: ["PATCHBAY_TLS_FAST_PATH": "off"])
        #expect(off.output.contains(Self.off), "\(off.output)")
        let auto = try await check(["--tls-fast-path", "auto"], environment: ["PATCHBAY_TLS_FAST_PATH": "off"])
        #expect(!auto.output.contains(Self.off), "\(auto.output)")
    }

    /// Unquoted, `off` is a boolean in YAML 1.1.
    @Test(arguments: ["off", "\"off\""]) func theConfigurationFileSwitchesTheFastPathOff(value: String) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: path) }
        try "tls: {fast_path: \(value)}\n".write(to: path, atomically: true, encoding: .utf8)
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/env"),
            [
                "-u", "PATCHBAY_TLS_FAST_PATH", try Program.executable.path, "serve", "--check", "--dev", "--port", "0", "--config",
                path.path,
            ],
            seconds: 20)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
        #expect(outcome.output.contains(Self.off), "\(outcome.output)")
    }

    /// The file also has settings that swift-configuration reads: both readers accept it.
    @Test func assistantsAreChecked() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: path) }
        let text = """
            tls: {fast_path: "off"}
            allowed_origins: [https://app.example]
            assistants:
              - id: shop
                instructions: |
                  You sell books.
                  Be brief.
                greetings: ["Hello {name}.", "Hi {name}."]
                tools:
                  - name: find
                    parameters: {type: object, properties: {title: {type: string, minLength: 1}}}
                    url: https://tools.example/find
              - id: default
                voice: nova
            """
        try text.write(to: path, atomically: true, encoding: .utf8)
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/env"),
            [
                "-u", "PATCHBAY_TLS_FAST_PATH", try Program.executable.path, "serve", "--check", "--dev", "--port", "0", "--config",
                path.path,
            ], seconds: 20)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
        #expect(outcome.output.contains("assistants: shop, default: ok") && outcome.output.contains(Self.off), "\(outcome.output)")
    }

    @Test(arguments: ["on", "", "OFF"]) func anUnknownFastPathModeIsAnError(mode: String) async throws {
        let complaint = "tls.fast_path: \"\(mode)\" is not one of auto, off"
        let checked = try await check(["--tls-fast-path", mode])
        #expect(checked.status == 1)
        #expect(checked.output.contains(complaint), "\(checked.output)\(checked.complaint)")
        let served = try await Program.run(nil, ["serve", "--dev", "--port", "0", "--tls-fast-path", mode], seconds: 20)
        #expect(served.status == 2)
        #expect(served.complaint.contains(complaint), "\(served.complaint)")
    }

    @Test func aTakenPortFailsTheCheck() async throws {
        let gateway = try await ServedGateway()
        let outcome = try await check(port: gateway.port)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("is taken"), "\(outcome.output)")
    }
}
