import Foundation
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ServeCommandTests {
    /// An invalid configuration file, and the expected text of its one-line error.
    struct WrongFile: Sendable, CustomTestStringConvertible {
        var text: String
        var says: String
        var testDescription: String { text }
    }

    @Test(arguments: [
        WrongFile(text: "prot: 7880", says: "did you mean `port`?"),
        WrongFile(text: "room: {empty_timeoutt: 3}", says: "did you mean `room.empty_timeout`?"),
        WrongFile(text: "port: high", says: "`port` must be a whole number, without quotes or a unit, not the text \"high\""),
        WrongFile(text: "port: 70000", says: "port: 70000 is not between 0 and 65535"),
        WrongFile(text: "resume_seconds: 61", says: "resume_seconds: 61 is not between 0 and 60"),
        WrongFile(text: "port: [1", says: "is not valid YAML"),
        WrongFile(
            text: "keys:\n  my-app: {{ secret }}", says: "line 2: a map cannot be a key; if `{{ … }}` is a placeholder, fill it in first"),
        WrongFile(text: "- 1", says: "must be a map of settings"),
        WrongFile(text: "keys: secret", says: "`keys` must be a map"),
        WrongFile(text: "keys: {a: {algorithm: HS512, secret: b}}", says: "not one of HS256, RS256, ES256"),
        WrongFile(text: "keys: {a: {algorithm: RS256}}", says: "keys.a.public_key_file is missing"),
        WrongFile(text: "keys: {a: {algorithm: RS256, public_key_file: not-there.pem}}", says: "not-there.pem; check the path"),
        WrongFile(text: "keys: {a: {secrett: b}}", says: "unknown key `keys.a.secrett`"),
        WrongFile(
            text: "cert: not-there.pem\nkey: not-there.pem", says: "not-there.pem: there is no such file; check the path of the certificate"
        ),
        WrongFile(text: "webhook: {url: [\"https://a\"]}", says: "did you mean `webhook.urls`?"),
        WrongFile(text: "webhook: {urls: [\"ftp://a\"]}", says: "is neither https:// nor http://"),
        WrongFile(text: "webhook: {urls: [\"https://a\", \"https://a\"]}", says: "https://a is listed twice"),
        WrongFile(text: "webhook: {urls: [\"https://a\"], api_key: nobody}", says: "`keys` has no \"nobody\""),
        WrongFile(text: "webhook: {urls: [\"https://a\"], ca: not-there.pem}", says: "not-there.pem cannot be read"),
        WrongFile(text: "webhook: {urls: [\"https://a\"]}", says: "webhook.urls: has no effect without accounts and sessions; set `data`"),
        WrongFile(text: "record_sessions: true", says: "record_sessions: has no effect without accounts and sessions"),
        WrongFile(text: "summaries: {url: \"https://a\", model: m}", says: "summaries.url: has no effect without accounts and sessions"),
        WrongFile(text: "master_key_file: key", says: "master_key_file: has no effect without accounts and sessions; set `data`"),
        WrongFile(text: "webhook: {api_key: devkey}", says: "webhook.api_key: has no effect without endpoints; set `webhook.urls`"),
        WrongFile(text: "webhook: {ca: ca.pem}", says: "webhook.ca: has no effect without endpoints"),
        WrongFile(text: "accounts: {confirm_email: true}", says: "accounts.confirm_email: nobody would send the codes to users"),
        WrongFile(text: "accounts: {confirm_mail: true}", says: "did you mean `accounts.confirm_email`?"),
        WrongFile(text: "push: {apns: {key_id: a, team_id: b, topic: c}}", says: "push.apns.key_id: has no effect without Apple's key"),
        WrongFile(text: "data: d\npush: {apns: {key_file: a.p8, key_id: b, team_id: c}}", says: "push.apns.topic is missing"),
        WrongFile(
            text: "data: store\npush: {apns: {key_file: not-there.p8, key_id: a, team_id: b, topic: c}}",
            says: "not-there.p8; check the path"),
        WrongFile(
            text: "push: {apns: {key_file: a.p8, key_id: a, team_id: b, topic: c}}",
            says: "push.apns.key_file: has no effect without accounts and sessions"),
        WrongFile(text: "push: {apns: {key_field: a}}", says: "did you mean `push.apns.key_file`?"),
        WrongFile(text: "speech: {model: m}", says: "speech.model: has no effect without a server's URL; set `speech.url`"),
        WrongFile(text: "speech: {url: \"https://a\", model: m}", says: "speech.url: has no effect without accounts and sessions"),
        WrongFile(text: "speech: {voice: [a]}", says: "did you mean `speech.voices`?"),
        WrongFile(text: "data: d\nspeech: {url: \"https://a\"}", says: "speech.model is missing"),
        WrongFile(text: "data: d\nspeech: {url: \"ftp://a\", model: m}", says: "speech.url: the URL of a must begin with https://"),
        WrongFile(
            text: "data: d\nspeech: {url: \"http://a.example\", model: m, api_key: k}",
            says: "would be sent to a.example without encryption; use https:// or remove speech.api_key"),
        WrongFile(
            text: "data: d\nspeech: {url: \"https://a\", model: m, provider: embedded}", says: "embedded is the built-in provider"),
        WrongFile(text: "data: d\nspeech: {url: \"https://a\", model: m, voices: [\"a b\"]}", says: "speech.voices: \"a b\" must have"),
        WrongFile(text: "data: d\nspeech: {url: \"https://a\", model: m, voices: [a, a]}", says: "speech.voices: a is listed twice"),
        WrongFile(text: "summaries: {model: m}", says: "summaries.model: has no effect without a model's URL; set `summaries.url`"),
        WrongFile(text: "summaries: {api_key: k}", says: "summaries.api_key: has no effect without a model's URL"),
        WrongFile(text: "keys: {a: {secret: b, public_key_file: c}}", says: "keys.a.public_key_file: has no effect with HS256"),
        WrongFile(text: "keys: {a: {algorithm: RS256, secret: b}}", says: "keys.a.secret: has no effect with RS256"),
        WrongFile(text: "log_format: xml", says: "log_format: \"xml\" is not one of text, json"),
        WrongFile(text: "log_level: loud", says: "is not one of trace"),
        WrongFile(text: "assistants: {id: shop}", says: "`assistants` must be a list"),
        WrongFile(text: "assistants: [shop]", says: "assistants[0]: it must be an object"),
        WrongFile(text: "assistants: [{name: Shop}]", says: "assistants[0]: id is missing"),
        WrongFile(text: "assistants: [{id: shop}, {id: shop}]", says: "assistants[1]: the id \"shop\" is used twice"),
        WrongFile(text: "assistants: [{id: shop, voize: nova}]", says: "assistants[0]: voize is no field here"),
        WrongFile(text: "assistants: [{id: shop, voice: robot}]", says: "assistants[0]: voice must be one of alloy"),
        WrongFile(text: "assistants: [{id: shop, name: 2026-01-01}]", says: "quote dates"),
        WrongFile(text: "assistants: [{id: shop, tools: [{name: t, url: \"ftp://a\"}]}]", says: "tools[0].url must begin with https://"),
        WrongFile(
            text: "assistants: [{id: shop, tools: [{name: t, url: \"https://a\", parameters: {type: array}}]}]",
            says: "tools[0].parameters must be a JSON Schema"),
    ])
    func aWrongConfigurationIsOneClearLineAndExitCode2(_ file: WrongFile) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: path) }
        try file.text.write(to: path, atomically: true, encoding: .utf8)
        let outcome = try await Program.run(nil, ["serve", "--dev", "--config", path.path], seconds: 20)
        #expect(outcome.status == 2)
        #expect(outcome.complaint.contains(file.says), "\(outcome.complaint)")
        #expect(outcome.complaint.split(separator: "\n").count == 1, "\(outcome.complaint)")
        let check = try await Program.run(nil, ["serve", "--check", "--dev", "--config", path.path], seconds: 20)
        #expect(check.status == 2, "`--check` exits as `serve` does: \(check.output)")
    }

    @Test func flagsWinOverTheEnvironmentAndTheEnvironmentOverTheFile() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: path) }
        try "port: 1\ncert: from-file.pem\nkey: from-file.pem".write(to: path, atomically: true, encoding: .utf8)
        let environment = ["PATCHBAY_CERT": "from-environment.pem"]
        let byEnvironment = try await Program.run(nil, ["serve", "--dev", "--config", path.path], environment: environment, seconds: 20)
        #expect(byEnvironment.complaint.contains("from-environment.pem"))
        let byFlag = try await Program.run(
            nil, ["serve", "--dev", "--config", path.path, "--cert", "from-flag.pem"], environment: environment, seconds: 20)
        #expect(byFlag.complaint.contains("from-flag.pem"))
    }

    @Test func withoutDevKeysAreRequired() async throws {
        let outcome = try await Program.run(
            nil, ["serve", "--port", "0", "--cert", "certs/dev/server.cert.pem", "--key", "certs/dev/server.key.pem"], seconds: 20)
        #expect(outcome.status == 2)
        #expect(outcome.complaint.contains("no keys, so no client could connect"))
    }

    @Test func aStoreNeedsAPublicURLExceptInDevelopment() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "patchbay.yaml").path
        let text = """
            port: 0
            cert: \(Program.package.path)/certs/dev/server.cert.pem
            key: \(Program.package.path)/certs/dev/server.key.pem
            keys: {my-app: a-secret-of-at-least-32-characters}
            data: \(folder.appending(path: "data").path)
            master_key_file: \(folder.appending(path: "master.key").path)

            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let without = try await Program.run(nil, ["serve", "--check", "--config", path], seconds: 20)
        #expect(without.status == 2 && without.output.contains("set `public_url`"), "\(without.output)")
        try (text + "public_url: wss://127.0.0.1:7880\n").write(toFile: path, atomically: true, encoding: .utf8)
        let with = try await Program.run(nil, ["serve", "--check", "--config", path], seconds: 20)
        #expect(with.status == 0, "\(with.output)\(with.complaint)")
    }

    @Test func aShortSecretIsForDevelopmentOnly() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: path) }
        let certificates = Program.package.path + "/certs/dev"
        let text = "port: 0\ncert: \(certificates)/server.cert.pem\nkey: \(certificates)/server.key.pem\nkeys: {my-app: short}\n"
        try text.write(to: path, atomically: true, encoding: .utf8)
        let production = try await Program.run(nil, ["serve", "--check", "--config", path.path], seconds: 20)
        #expect(production.status != 0 && "\(production.output)\(production.complaint)".contains("my-app"))
        let development = try await Program.run(nil, ["serve", "--dev", "--check", "--config", path.path], seconds: 20)
        #expect(development.status == 0, "\(development.output)\(development.complaint)")
    }

    @Test func theDevelopmentKeyIsForLoopbackOnly() async throws {
        let outcome = try await Program.run(nil, ["serve", "--dev", "--host", "0.0.0.0"], seconds: 20)
        #expect(outcome.status == 2)
    }

    /// systemd tries again after 1, not after 2.
    @Test func aTakenPortIsOneClearLineAndExitCode1() async throws {
        let first = try await ServedGateway()
        let outcome = try await Program.run(nil, ["serve", "--dev", "--port", String(first.port)], seconds: 20)
        #expect(outcome.status == 1)
        #expect(outcome.complaint.contains("is taken"))
        #expect(outcome.complaint.split(separator: "\n").count == 1, "\(outcome.complaint)")
    }

    @Test func sigtermStopsAnEmptyGateway() async throws {
        let gateway = try await ServedGateway()
        gateway.signal(SIGTERM)
        #expect(await gateway.status() == 0)
    }

    @Test func sighupReloadsWithoutInterruption() async throws {
        let folder = try TemporaryFolder()
        let log = folder.file("log")
        let gateway = try await ServedGateway(log: log)
        gateway.signal(SIGHUP)
        try await eventually("the reload") {
            try String(contentsOf: log, encoding: .utf8).contains("certificate reloaded, for new connections")
        }
        gateway.signal(SIGTERM)
        #expect(await gateway.status() == 0)
    }
}
