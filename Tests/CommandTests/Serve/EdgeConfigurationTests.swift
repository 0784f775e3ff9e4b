import ArgumentParser
import Backend
import Foundation
import Gateway
import Sockets
import Testing

@testable import patchbay

/// Ports, proxies and origins in the configuration of `serve`.
struct EdgeConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func load(_ yaml: String, _ flags: [String] = ["--dev"]) async throws -> ServeConfiguration {
        let path = folder.file("patchbay.yaml").path
        try yaml.write(toFile: path, atomically: true, encoding: .utf8)
        return try ServeConfiguration.load(flags: try ServeCommand.parse(flags + ["--config", path]))
    }

    private func production(_ yaml: String) async throws -> ServeConfiguration {
        let certificates = Program.package.path + "/certs/dev"
        return try await load(
            """
            cert: \(certificates)/server.cert.pem
            key: \(certificates)/server.key.pem
            keys: {my-app: a-secret-of-at-least-32-characters}
            \(yaml)
            """, [])
    }

    private func edge(_ yaml: String) async throws -> EdgeSettings { try await load(yaml).settings.edge }

    struct Wrong: Sendable, CustomTestStringConvertible {
        var yaml: String
        var says: String
        var testDescription: String { yaml }
    }

    @Test(arguments: [
        Wrong(yaml: "shard_ports: many", says: "shard_ports: \"many\" must be the first port, a range such as 7881-7888, or off"),
        Wrong(yaml: "shard_ports: 7888-7881", says: "must be the first port"),
        Wrong(yaml: "shard_ports: 1-2-3", says: "must be the first port"),
        Wrong(
            yaml: "shards: 4\nshard_ports: 7881-7883", says: "7881-7883 has 3 ports for 4 shards; choose a larger range, or fewer `shards`"),
        Wrong(yaml: "shards: 4\nshard_ports: 65533", says: "65533 has 3 ports for 4 shards"),
        Wrong(yaml: "shards: 1\nshard_ports: 7881", says: "shard_ports: has no effect with `shards: 1`"),
        Wrong(yaml: "port: 7882\nshards: 4\nshard_ports: 7881", says: "shard_ports: port 7882 is also used by `port`"),
        Wrong(yaml: "plain_port: 7880", says: "plain_port: port 7880 is also used by `port`"),
        Wrong(yaml: "plain_port: 8000\nmetrics_port: 8000", says: "metrics_port: port 8000 is also used by `plain_port`"),
        Wrong(yaml: "plain_port: 70000", says: "plain_port: 70000 is not between 0 and 65535"),
        Wrong(yaml: "plain_port: 8000\nplain_host: localhost", says: "plain_host: \"localhost\" is not a numeric address"),
        Wrong(yaml: "plain_port: 8000\nplain_host: 0.0.0.0", says: "plain_host: --dev listens on loopback addresses only"),
        Wrong(yaml: "plain_host: 127.0.0.1", says: "plain_host: has no effect without a port for proxies; set `plain_port`, or remove it"),
        Wrong(yaml: "metrics_host: 127.0.0.1", says: "metrics_host: has no effect without a port for metrics; set `metrics_port`"),
        Wrong(yaml: "trusted_proxies: [10.0.0.0/8]", says: "trusted_proxies: has no effect without a port for proxies; set `plain_port`"),
        Wrong(yaml: "proxy_protocol: true", says: "proxy_protocol: has no effect without a port for proxies"),
        Wrong(yaml: "plain_port: 8000\ntrusted_proxies: []", says: "trusted_proxies: is empty, so nobody could use `plain_port`"),
        Wrong(yaml: "plain_port: 8000\ntrusted_proxies: [caddy]", says: "trusted_proxies: \"caddy\" is no address or network"),
        Wrong(yaml: "plain_port: 8000\ntrusted_proxies: [10.0.0.7/8]", says: "write 10.0.0.0/8, or 10.0.0.7 for one address"),
        Wrong(
            yaml: "accounts: {registrations_per_hour: 5}",
            says: "accounts.registrations_per_hour: has no effect without accounts and sessions; set `data`"),
        Wrong(
            yaml: "allowed_origins: [app.example]", says: "allowed_origins: \"app.example\" is no origin; write it as https://app.example"),
        Wrong(
            yaml: "allowed_origins: [\"https://App.example/\"]",
            says: "would never send \"https://App.example/\"; write https://app.example"),
        Wrong(yaml: "allowed_origins: [\"https://app.example:443\"]", says: "write https://app.example"),
    ])
    func wrongSettingsAreRefusedInASentence(_ wrong: Wrong) async throws {
        let error = await #expect(throws: UsageError.self) { _ = try await load(wrong.yaml) }
        #expect("\(try #require(error))".contains(wrong.says), "\(String(describing: error))")
    }

    @Test(arguments: ["shard_ports: 0", "plain_port: 0", "metrics_port: 0"]) func freePortsAreForDevelopmentOnly(yaml: String) async throws
    {
        _ = try await load(yaml)
        let error = await #expect(throws: UsageError.self) { _ = try await production(yaml) }
        #expect("\(try #require(error))".contains("is for --dev only"), "\(String(describing: error))")
    }

    @Test func shardPortsAreNamedOrOff() async throws {
        #expect(try await production("shards: 2").settings.edge.shardPorts == .off)
        #expect(try await production("shards: 2\nshard_ports: off").settings.edge.shardPorts == .off)
        #expect(try await production("shards: 2\nshard_ports: 7881").settings.edge.shardPorts == .from(7_881))
        #expect(try await production("shards: 2\nshard_ports: 7881-7888").settings.edge.shardPorts == .from(7_881))
        #expect(try await load("shards: 2").settings.edge.shardPorts == .free)
    }

    @Test func onlyLoopbackIsTrustedByDefault() async throws {
        let edge = try await edge("plain_port: 8000")
        #expect(edge.plain == EdgeSettings.Place(host: "127.0.0.1", port: 8_000))
        #expect(edge.proxies.networks.map(\.description) == ["127.0.0.0/8", "::1/128"] && !edge.proxies.usesProxyProtocol)
        let error = await #expect(throws: UsageError.self) { _ = try await production("plain_port: 8000\nplain_host: 0.0.0.0") }
        #expect("\(try #require(error))".contains("list the proxies' addresses in `trusted_proxies`"))
        _ = try await production("plain_port: 8000\nplain_host: 0.0.0.0\ntrusted_proxies: [10.0.0.0/8]")
    }

    @Test func configurationInTheDocumentIsValid() async throws {
        let document = try String(contentsOf: Program.package.appending(path: "docs/PROXIES.md"), encoding: .utf8)
        let block = try #require(document.firstMatch(of: /```yaml\n((?s).*?)```/))
        let edge = try await production(String(block.output.1)).settings.edge
        #expect(edge.plain == EdgeSettings.Place(host: "127.0.0.1", port: 7_890))
        #expect(edge.proxies.networks == EdgeSettings.loopback)
    }

    @Test func trustingEverybodyIsQuestionable() async throws {
        let configuration = try await load("plain_port: 8000\ntrusted_proxies: [0.0.0.0/0]")
        #expect(configuration.warnings.contains { $0.contains("every client may state any address") })
    }

    @Test func metricsLeaveTheClientsPortsIfTheyHaveTheirOwn() async throws {
        #expect(try await edge("").publishesOperations)
        #expect(try await !edge("metrics_port: 9464").publishesOperations)
        #expect(try await edge("metrics_port: 9464\npublic_metrics: true").publishesOperations)
        #expect(try await !edge("public_metrics: false").publishesOperations)
    }

    @Test func anyOriginIsForDevelopmentWithoutAList() async throws {
        #expect(try await load("").settings.edge.admitsAnyOrigin)
        #expect(try await !load("allowed_origins: [https://app.example]").settings.edge.admitsAnyOrigin)
        #expect(try await !production("shards: 1").settings.edge.admitsAnyOrigin)
    }

    @Test func pagesAreServedUnlessTurnedOff() async throws {
        #expect(try await production("").settings.edge.servesPages)
        #expect(try await !production("pages: false").settings.edge.servesPages)
        let error = await #expect(throws: (any Error).self) { _ = try await production("pages: none") }
        #expect("\(try #require(error))".contains("`pages` must be true or false"), "\(String(describing: error))")
    }

    @Test func registrationsAreLimitedExceptInDevelopment() async throws {
        let data = "data: \(folder.url.path)/data\nmaster_key_file: \(folder.url.path)/key\npublic_url: wss://voice.example\n"
        #expect(try await production(data).users.accounts.registrationsPerHour == 30)
        #expect(try await production(data + "accounts: {registrations_per_hour: 0}").users.accounts.registrationsPerHour == 0)
        #expect(try await load(data).users.accounts.registrationsPerHour == 0)
    }
}
