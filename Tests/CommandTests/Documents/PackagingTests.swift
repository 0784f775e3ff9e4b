import ArgumentParser
import Foundation
import Sockets
import Testing
import Yams

@testable import patchbay

/// What the Debian package and the manifest for Kubernetes add to the command; `make test-packages` tests the package itself.
struct PackagingTests {
    private static func names(of command: any ParsableCommand.Type, under path: String = "") -> [String] {
        let name = path + (command.configuration.commandName ?? "")
        return [name] + command.configuration.subcommands.flatMap { names(of: $0, under: name + " ") }
    }

    @Test func theManualPageDescribesEveryCommand() async throws {
        let script = #""$0" --experimental-dump-help | packaging/manual-page 0.1.0 2026-01-01"#
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["bash", "-euo", "pipefail", "-c", script, try Program.executable.path], seconds: 20)
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let headings = outcome.output.replacing("\\", with: "").split(separator: "\n").filter { $0.hasPrefix(".SS ") }
        let commands = Self.names(of: PatchbayCommand.self).dropFirst()
        #expect(headings.map { $0.dropFirst(4).trimmingCharacters(in: ["\""]) } == Array(commands))
        // Samples keep their lines and their backslashes.
        #expect(outcome.output.contains(#"patchbay join \-\-dev \-\-room lobby \-\-identity alice \e"#))
    }

    @Test func theVersionIsTheNewestReleaseInTheChangelog() throws {
        let changelog = try String(contentsOf: Program.package.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let newest = try #require(changelog.split(separator: "\n").first { $0.hasPrefix("## [") && $0 != "## [Unreleased]" })
        let release = try #require(try /## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}/.wholeMatch(in: newest))
        #expect(release.1 == Version.text)
    }

    @Test func theUnitAllowsWhatTheDefaultsNeed() throws {
        let unit = try String(contentsOf: Program.package.appending(path: "packaging/patchbay.service"), encoding: .utf8)
        let example = try String(contentsOf: Program.package.appending(path: "patchbay.example.yaml"), encoding: .utf8)
        func number(_ name: String, _ separator: String, in text: String) throws -> Int {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + separator) })
            return try #require(Int(line.dropFirst((name + separator).count)))
        }
        let drain = try number("#drain_timeout", ": ", in: example)
        let connections = try number("#connections_max", ": ", in: example)
        #expect(try number("TimeoutStopSec", "=", in: unit) > drain + 10)
        #expect(try number("LimitNOFILE", "=", in: unit) > connections + 10_000)
        // Of the exit codes, only that of a wrong configuration ends the restarts, and their number does not.
        #expect(unit.contains("\nRestart=on-failure\nRestartSec=5\nRestartPreventExitStatus=2\n"))
        #expect(unit.contains("\nStartLimitIntervalSec=0\n"))
        #expect(unit.contains("ExecStart=/usr/bin/patchbay serve --config /etc/patchbay/patchbay.yaml\n"))
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Program.package.appending(path: path), encoding: .utf8)
    }

    private typealias Fields = [String: Any]

    /// The manifest's objects by their kind.
    private static func manifest() throws -> [String: Fields] {
        let objects = try Yams.load_all(yaml: text("deploy/kubernetes/patchbay.yaml")).compactMap { $0 as? Fields }
        return Dictionary(uniqueKeysWithValues: try objects.map { (try #require($0["kind"] as? String), $0) })
    }

    private static func configuration() throws -> String {
        try #require((manifest()["ConfigMap"]?["data"] as? [String: String])?["patchbay.yaml"])
    }

    @Test func theConfigurationForKubernetesStartsAGateway() async throws {
        let certificate = try DevelopmentCertificate.prepare().files
        let folder = try TemporaryFolder()
        // Two free ports.
        let listeners = try (0..<2).map { _ in try Listener(host: "0.0.0.0", port: 0, shared: false) }
        let ports = listeners.map { String($0.port) }
        for listener in listeners { listener.close() }
        let settings = try Self.configuration()
            .replacing("/etc/patchbay/tls/tls.crt", with: certificate.certificatePath)
            .replacing("/etc/patchbay/tls/tls.key", with: certificate.privateKeyPath)
            .replacing("/var/lib/patchbay", with: folder.url.path).replacing("9464", with: ports[1])
        try settings.write(to: folder.file("patchbay.yaml"), atomically: true, encoding: .utf8)
        let secrets = [
            "PATCHBAY_KEYS": #"{"my-app": "a-secret-of-at-least-32-characters"}"#,
            "PATCHBAY_MASTER_KEY": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVoyMzQ1Njc=",
        ]
        let outcome = try await Program.run(
            nil, ["serve", "--check", "--port", ports[0], "--config", folder.file("patchbay.yaml").path], environment: secrets, seconds: 20)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
        #expect(outcome.output.contains("metrics port: \(ports[1]) on 0.0.0.0: ok"), "\(outcome.output)")
    }

    @Test func theManifestForKubernetesFitsTheImageAndTheDefaults() throws {
        let manifest = try Self.manifest()
        let configuration = try #require(try Yams.load(yaml: Self.configuration()) as? Fields)
        let set = try #require(manifest["StatefulSet"]?["spec"] as? Fields)
        let pod = try #require((set["template"] as? Fields)?["spec"] as? Fields)
        let container = try #require((pod["containers"] as? [Fields])?.first)
        #expect(set["replicas"] as? Int == 1)

        // Ports and probes.
        let ports = try #require(container["ports"] as? [Fields])
        let numbers = Dictionary(uniqueKeysWithValues: ports.map { ($0["name"] as? String ?? "", $0["containerPort"] as? Int ?? 0) })
        #expect(numbers == ["https": 7_880, "metrics": configuration["metrics_port"] as? Int ?? 0])
        #expect(configuration["port"] == nil && configuration["metrics_host"] as? String == "0.0.0.0")
        for (probe, path) in [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")] {
            let request = try #require((container[probe] as? Fields)?["httpGet"] as? [String: String])
            #expect(request == ["path": path, "port": "metrics"])
        }
        let service = try #require((manifest["Service"]?["spec"] as? Fields)?["ports"] as? [Fields])
        #expect(service.map { $0["targetPort"] as? String } == ["https"])

        // The image's user, and the drain.
        let image = try Self.text("packaging/Dockerfile")
        let context = try #require(pod["securityContext"] as? Fields)
        let user = try #require(context["runAsUser"] as? Int)
        #expect(image.contains("\nUSER \(user):\(user)\n") && image.contains("--uid \(user) ") && context["fsGroup"] as? Int == user)
        // Otherwise `adduser --system` of the package fails.
        #expect((100...999).contains(user))
        let unit = try Self.text("packaging/patchbay.service")
        #expect(unit.contains("\nTimeoutStopSec=\(pod["terminationGracePeriodSeconds"] as? Int ?? 0)\n"))
        #expect(pod["enableServiceLinks"] as? Bool == false)
        #expect(image.contains(#"CMD ["serve", "--config", "/etc/patchbay/patchbay.yaml"]"#))
        #expect(container["args"] as? [String] == ["serve", "--config", "/etc/patchbay/patchbay.yaml"])
    }

    @Test func thePackageContainsDashboardsAndReducedLicences() async throws {
        let script = #"""
            eval "$(sed -n '/^licences() {/,/^}/p' packaging/dist)"
            grep -q '^install -D -m 644 -t "$share/patchbay/dashboards" "$source"/dashboards/\*$' packaging/dist
            licences LICENSE
            printf 'Apache License\nx\nEND OF TERMS AND CONDITIONS\n\n## Runtime Library Exception\nkept\n' | licences
            printf 'Copyright (c) Ann\nPermission is hereby granted\n' | licences
            """#
        let outcome = try await Program.run(URL(filePath: "/usr/bin/env"), ["bash", "-euo", "pipefail", "-c", script])
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let licence = "    Apache License, Version 2.0: /usr/share/common-licenses/Apache-2.0"
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                licence, licence, "## Runtime Library Exception", "kept", "Copyright (c) Ann", "Permission is hereby granted",
            ])
    }
}
