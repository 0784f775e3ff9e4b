import ArgumentParser
import Foundation
import Logging
import Testing

@testable import patchbay

/// The configuration in the log.
struct ConfigurationSummaryTests {
    @Test func summaryHasTheHostsOfURLsAndNoSecrets() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("patchbay.yaml").path
        let authority = Program.package.path + "/certs/dev/ca.cert.pem"
        try """
        data: \(folder.file("data").path)
        master_key_file: \(folder.file("master.key").path)
        public_url: wss://ann:secret-1@voice.example:7880/path?token=secret-2
        tls: {fast_path: "off"}
        keys: {my-app: secret-3-of-at-least-32-characters, hooks: secret-4-of-at-least-32-characters}
        users: {issuer: "https://login.example/tenant?key=secret-5", secret: secret-6-of-at-least-32-characters}
        webhook: {urls: ["https://hooks.example/secret-7"], api_key: hooks, ca: \(authority)}
        summaries: {url: "https://llm.example/v1?key=secret-8", model: small, api_key: secret-9}
        speech: {url: "https://tts.example/v1", model: loud, voices: [anna], api_key: secret-10}
        """.write(toFile: path, atomically: true, encoding: .utf8)
        let configuration = try ServeConfiguration.load(flags: try ServeCommand.parse(["--dev", "--config", path]))
        let summary = configuration.summary
        #expect(summary["public_url"] == "voice.example:7880")
        #expect(summary["tls"] == ["fast_path": "off"])
        #expect(summary["master_key_file"] == .string(folder.file("master.key").path))
        #expect(summary["users"] == ["issuer": "login.example", "algorithm": "HS256", "public_key_file": "", "audience": "not checked"])
        #expect(summary["webhook"] == ["urls": ["hooks.example"], "api_key": "hooks", "ca": .string(authority)])
        #expect(summary["summaries"] == ["url": "llm.example", "model": "small"])
        #expect(
            summary["speech"] == ["url": "tts.example", "provider": "openai", "model": "loud", "voices": ["anna"]])
        #expect(summary["accounts"] == ["confirm_email": .stringConvertible(false), "registrations_per_hour": .stringConvertible(0)])
        #expect(!"\(summary)".contains("secret-"))
    }
}
