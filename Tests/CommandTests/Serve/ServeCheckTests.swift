import Foundation
import Sockets
import Testing

@testable import patchbay

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
        for start in [
            "configuration: ok", "certificate: ", "keys: devkey: ok", "store: none", "ports: any free one", "open files: at most ",
        ] {
            #expect(lines.contains { $0.hasPrefix(start) }, "no line \"\(start)\" in \(outcome.output)")
        }
    }

    @Test func resultsCanBeLinesOfJSON() async throws {
        struct Line: Decodable {
            var status: String
            var subject: String?
            var text: String
        }

        func lines(_ outcome: Program.Outcome) throws -> [Line] {
            try outcome.output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        }

        let good = try await check(["--json"])
        #expect(good.status == 0)
        #expect(try lines(good).contains { $0.status == "ok" && $0.subject == "keys" && $0.text == "devkey: ok" }, "\(good.output)")
        let bad = try await check(["--json", "--cert", "/nowhere.pem"])
        #expect(bad.status == 2)
        #expect(try lines(bad).contains { $0.status == "error" && $0.subject == nil && $0.text.contains("/nowhere.pem") }, "\(bad.output)")
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
        #expect(checked.status == 2)
        #expect(checked.output.contains(complaint), "\(checked.output)\(checked.complaint)")
        let served = try await Program.run(nil, ["serve", "--dev", "--port", "0", "--tls-fast-path", mode], seconds: 20)
        #expect(served.status == 2)
        #expect(served.complaint.contains(complaint), "\(served.complaint)")
    }

    @Test func aTakenPortFailsTheCheckAndTheOtherChecksAreStillMade() async throws {
        let gateway = try await ServedGateway()
        let outcome = try await check(port: gateway.port)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("is taken") && outcome.output.contains("TLS fast path: "), "\(outcome.output)")
    }

    @Test func portsForProxiesAndMetricsAreTested() async throws {
        let environment = ["PATCHBAY_PLAIN_PORT": "0", "PATCHBAY_METRICS_PORT": "0", "PATCHBAY_TRUSTED_PROXIES": "127.0.0.1,::1"]
        let outcome = try await check(environment: environment)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
        #expect(outcome.output.contains("plain port for proxies: any free one on 127.0.0.1: ok"), "\(outcome.output)")
        #expect(outcome.output.contains("metrics port: any free one on 127.0.0.1: ok"), "\(outcome.output)")
        let gateway = try await ServedGateway()
        let taken = try await check(environment: ["PATCHBAY_METRICS_PORT": "\(gateway.port)"])
        #expect(taken.status == 1 && taken.output.contains("is taken"), "\(taken.output)")
        #expect(taken.output.contains("choose another with `metrics_port`"), "\(taken.output)")
    }

    @Test func keysOfTheEnvironmentAreYAMLOrJSON() async throws {
        for keys in [#"{"a":"b"}"#, "a: b"] {
            let outcome = try await check(environment: ["PATCHBAY_KEYS": keys])
            #expect(outcome.status == 0 && outcome.output.contains("keys: a, devkey: ok"), "\(outcome.output)\(outcome.complaint)")
        }
        let placeholder = try await check(environment: ["PATCHBAY_KEYS": "{{ keys }}"])
        #expect(placeholder.status == 2, "\(placeholder.complaint)")
        #expect(placeholder.output.contains("error: PATCHBAY_KEYS: line 1: a map cannot be a key"), "\(placeholder.output)")
        let files = try DevelopmentCertificate.prepare().files
        let production = try await Program.run(
            nil, ["serve", "--port", "0", "--cert", files.certificatePath, "--key", files.privateKeyPath],
            environment: ["PATCHBAY_KEYS": #"{"a":"b"}"#], seconds: 20)
        #expect(production.status == 2, "\(production.complaint)")
        #expect(production.complaint.contains("The secret of the issuer \"a\" is shorter than 32 bytes"), "\(production.complaint)")
    }

    @Test func aMisspelledVariableIsAWarningAndAnIdleOneAnError() async throws {
        let misspelled = try await check(environment: ["PATCHBAY_PROT": "1"])
        #expect(misspelled.status == 0)
        #expect(misspelled.output.contains("warning: PATCHBAY_PROT is no setting; did you mean PATCHBAY_PORT?"), "\(misspelled.output)")
        let idle = try await check(environment: ["PATCHBAY_USERS_ISSUER": "login"])
        #expect(idle.status == 2)
        #expect(idle.output.contains("PATCHBAY_USERS_ISSUER: has no effect; set `users`"), "\(idle.output)")
    }
}

/// The store's part of `serve --check`.
@Suite(.timeLimit(.minutes(2)))
struct ServeCheckStoreTests {
    private let folder: StoreFolder

    init() async throws {
        folder = try await StoreFolder()
    }

    private func check(_ arguments: String..., data: String? = nil) async throws -> Program.Outcome {
        try await Program.run(
            nil, ["serve", "--check", "--dev", "--port", "0", "--data", data ?? folder.path] + arguments, seconds: 20)
    }

    @Test func aStoreThatOpensIsGood() async throws {
        let outcome = try await check()
        #expect(outcome.status == 0 && outcome.output.contains("store: \(folder.path): ok\n"), "\(outcome.output)\(outcome.complaint)")
    }

    @Test func aStoreInUseFailsTheCheck() async throws {
        let gateway = try await ServedGateway(["--data", folder.path])
        let outcome = try await check()
        #expect(outcome.status == 1 && outcome.output.contains("is in use"), "\(outcome.output)")
        gateway.signal(SIGTERM)
        #expect(await gateway.status() == 0)
        #expect(try await check().status == 0)
    }

    @Test func whatIsNoConnectionURIIsRefused() async throws {
        let outcome = try await check("--database", "password=tops3cret tops3cret")
        #expect(outcome.status == 2 && outcome.output.contains("database: not a connection URI"), "\(outcome.output)")
        #expect(!outcome.output.contains("tops3cret"))
    }

    @Test func aDatabaseThatCannotBeReachedFailsTheCheckWithTheReason() async throws {
        let outcome = try await check("--database", "postgresql://ann:tops3cret@127.0.0.1:1/patchbay")
        #expect(outcome.status == 1 && outcome.output.contains("database: "), "\(outcome.output)")
        #expect(outcome.output.contains("Connection refused") && !outcome.output.contains("tops3cret"), "\(outcome.output)")
    }

    @Test func recordingsNeedADirectoryBesideADatabase() async throws {
        let outcome = try await Program.run(
            nil, ["serve", "--check", "--dev", "--port", "0", "--database", "postgresql://127.0.0.1:1/patchbay"],
            environment: ["PATCHBAY_RECORD_SESSIONS": "true"], seconds: 20)
        #expect(
            outcome.status == 2 && outcome.output.contains("record_sessions: recordings are files; set `data`"), "\(outcome.output)")
    }

    @Test func anotherMasterKeyFailsTheCheck() async throws {
        try String(repeating: "7", count: 64).write(toFile: folder.file("other.key"), atomically: true, encoding: .utf8)
        let outcome = try await check("--master-key", folder.file("other.key"))
        #expect(outcome.status == 2 && outcome.output.contains("is locked with the master key"), "\(outcome.output)")
        let missing = try await check("--master-key", folder.file("missing.key"))
        #expect(missing.status == 2 && missing.output.contains("there is no file"), "\(missing.output)")
    }

    @Test func aStoreOfAnEarlierVersionIsNamed() async throws {
        let older =
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(\"DELETE FROM grdb_migrations WHERE identifier = 'speech'\"); c.commit()"
        let python = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["python3", "-c", older, folder.file("patchbay.sqlite")], seconds: 30)
        try #require(python.status == 0, "\(python.complaint)")
        let outcome = try await check()
        #expect(outcome.status == 0 && outcome.output.contains("`serve` updates its schema"), "\(outcome.output)")
    }

    @Test func theCheckOfANewStoreCreatesNothing() async throws {
        let path = folder.file("new/store")
        let outcome = try await check(data: path)
        #expect(outcome.status == 0 && outcome.output.contains("`serve` creates it"), "\(outcome.output)\(outcome.complaint)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("new")))
    }
}

struct CertificateCheckTests {
    private static let now: Int64 = 1_763_733_600
    private static let day: Int64 = 86_400

    private func problems(
        from begins: Int64 = -1, to expires: Int64 = 60, _ names: [String] = ["voice.example", "10.0.0.1"], publicURL: String? = nil
    ) -> [CertificateCheck.Problem] {
        let certificate = ServerCertificate(begins: Self.now + begins * Self.day, expires: Self.now + expires * Self.day, names: names)
        return CertificateCheck.problems(certificate, publicURL: publicURL, now: Self.now)
    }

    @Test(arguments: [nil, "wss://voice.example", "wss://VOICE.example:7880/x", "wss://10.0.0.1:7880"])
    func aGoodCertificateHasNoProblem(publicURL: String?) {
        #expect(problems(publicURL: publicURL) == [])
    }

    @Test func anExpiredCertificateIsFatal() {
        let problems = problems(from: -90, to: 0)
        #expect(problems.map(\.isFatal) == [true] && problems[0].text.contains("expired at 2025-11-21T14:00:00.000Z; renew it"))
    }

    @Test func aCertificateOfTheFutureIsFatal() {
        let problems = problems(from: 1)
        #expect(problems.map(\.isFatal) == [true] && problems[0].text.contains("clock"))
    }

    @Test func aCertificateThatExpiresSoonIsQuestionable() {
        let problems = problems(to: CertificateCheck.renewalDays - 1)
        #expect(problems.map(\.isFatal) == [false] && problems[0].text.contains("expires in 13 days"))
        #expect(self.problems(to: CertificateCheck.renewalDays) == [])
    }

    @Test(arguments: ["wss://other.example", "wss://10.0.0.2", "wss://[2001:db8::1]:7880", "wss://a.voice.example"])
    func aCertificateForOtherHostsIsQuestionable(publicURL: String) {
        #expect(problems(publicURL: publicURL).map(\.isFatal) == [false])
    }

    @Test func aWildcardCoversOneLabel() {
        let names = ["*.voice.example"]
        #expect(problems(names, publicURL: "wss://eu.voice.example") == [])
        #expect(problems(names, publicURL: "wss://a.eu.voice.example").count == 1)
        #expect(problems(names, publicURL: "wss://voice.example").count == 1)
    }

    @Test func aCertificateWithoutNamesIsFatal() {
        #expect(problems([]).map(\.isFatal) == [true])
    }
}
