import Foundation
import PatchbayClient
import Sockets
import Testing

@testable import patchbay

/// SIGHUP with a configuration file that defines assistants.
@Suite(.timeLimit(.minutes(2)))
struct ReloadTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func write(_ yaml: String) throws {
        try yaml.write(to: folder.file("patchbay.yaml"), atomically: true, encoding: .utf8)
    }

    private func log() throws -> String { try String(contentsOf: folder.file("log"), encoding: .utf8) }

    /// The name that clients see; nil if there is no such assistant.
    private func name(of assistant: String, _ gateway: ServedGateway) async throws -> String? {
        let answer = try await gateway.administrator().get("/v1/assistants/\(assistant)")
        return (try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])?["name"] as? String
    }

    @Test func sighupReplacesAssistantsAndAnInvalidFileChangesNothing() async throws {
        try write("assistants: [{id: shop, name: Before}]")
        let gateway = try await ServedGateway(["--config", folder.file("patchbay.yaml").path], log: folder.file("log"))
        #expect(try await name(of: "shop", gateway) == "Before")
        let user = try await gateway.join("lobby", as: "ann")

        try write("assistants: [{id: shop, name: After}, {id: second, name: Second}]\ndispatch: [{room: lobby, assistant: second}]")
        gateway.signal(SIGHUP)
        try await eventually("the new definition") { try await name(of: "shop", gateway) == "After" }
        #expect(try await name(of: "second", gateway) == "Second")

        try write("assistants: [{id: shop, name: Third, voice: robot}]")
        gateway.signal(SIGHUP)
        try await eventually("an error that names the field") { try log().contains("assistants[0]: voice must be one of alloy") }
        try write("assistants: [{id: shop, name: Fourth}]\nkeys: {my-app: {{ secret }}}")
        gateway.signal(SIGHUP)
        try await eventually("an error that names the line") { try log().contains("patchbay.yaml: line 2: a map cannot be a key") }
        #expect(try await name(of: "shop", gateway) == "After")
        #expect(try await name(of: "second", gateway) == "Second")
        #expect(user.statistics.reconnects == 0 && user.disconnection == nil, "calls are not interrupted")
        await user.leave()
        gateway.signal(SIGTERM)
        #expect(await gateway.status() == 0)
    }

    @Test func sighupSaysWhatWasReloadedWhatWasNotAndWhy() async throws {
        let first = try DevelopmentCertificate.prepare()
        let second = try DevelopmentCertificate.prepare(environment: ["XDG_STATE_HOME": folder.url.path])
        func settings(_ certificate: TLSFiles, _ more: String = "") -> String {
            "cert: \(certificate.certificatePath)\nkey: \(certificate.privateKeyPath)\n\(more)\n"
        }
        try write(settings(first.files))
        let gateway = try await ServedGateway(["--config", folder.file("patchbay.yaml").path], log: folder.file("log"))

        // Another path and a setting that needs a restart.
        try write(settings(second.files, "drain_timeout: 5\nroom: {empty_timeout: 5}"))
        gateway.signal(SIGHUP)
        try await eventually("the reload") { try log().contains("certificate reloaded, for new connections") }
        #expect(try log().contains("certificate=\(second.files.certificatePath)"))
        #expect(try log().contains(#"settings changed that only a restart applies settings="drain_timeout, room.empty_timeout""#))
        let trust = TLSTrust.authority(path: second.authorityPath)
        try await eventually("the new certificate") {
            (try? await GatewayAdministrator(url: gateway.url, token: "t", trust: trust).get("/healthz").status) == 200
        }

        // An invalid setting, and no certificate.
        try FileManager.default.removeItem(atPath: second.files.privateKeyPath)
        try write(settings(second.files, "drain_timeout: soon"))
        gateway.signal(SIGHUP)
        try await eventually("the reason") { try log().contains("certificate not reloaded; the previous one stays in use") }
        #expect(try log().contains("`drain_timeout` must be a whole number"))
        #expect(try log().contains("configuration not reloaded; keys, assistants and dispatch rules stay as they were"))
        #expect(try log().contains("\(second.files.privateKeyPath): there is no such file"))
    }
}
