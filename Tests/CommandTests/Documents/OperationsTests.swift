import Foundation
import Store
import Testing

/// Runs the shell commands of OPERATIONS.md, in their order, on a production configuration.
@Suite(.timeLimit(.minutes(2)))
struct OperationsTests {
    private static func document() throws -> String {
        try String(contentsOf: Program.package.appending(path: "OPERATIONS.md"), encoding: .utf8)
    }

    /// Stands in for systemd: `systemctl start|stop|reload patchbay`.
    private static let systemctl = """
        systemctl() {
            case "$1" in
                start)
                    # Emptied here, because the process in the background does it at some later time.
                    : >"$DIRECTORY/output"
                    patchbay serve >>"$DIRECTORY/output" 2>>"$DIRECTORY/log" & pid=$!
                    until grep -q ' listening on ' "$DIRECTORY/output"; do kill -0 $pid; sleep 0.05; done
                    API=$(sed -n 's|.*wss://||p' "$DIRECTORY/output") ;;
                stop) kill -TERM $pid && wait $pid ;;
                reload) kill -HUP $pid ;;
            esac
        }
        trap 'kill $pid; tail -n 5 "$DIRECTORY/log" >&2' EXIT

        """

    @Test func commandsOfTheDocumentWork() async throws {
        let store = try await StoreFolder()
        let folder = try TemporaryFolder()
        let key = folder.file("master.key").path
        try FileManager.default.moveItem(atPath: store.file("master.key"), toPath: key)
        try await store.addRecording(named: "voice.ogg", Data("sealed".utf8), masterKey: key)
        let certificate = Program.package.appending(path: "certs/dev/server.cert.pem").path
        let configuration = """
            port: 0
            cert: \(certificate)
            key: \(Program.package.appending(path: "certs/dev/server.key.pem").path)
            keys: {my-app: a-secret-of-at-least-32-characters}
            public_url: wss://127.0.0.1:7880
            data: \(store.path)
            master_key_file: \(key)
            """
        try configuration.write(to: folder.file("patchbay.yaml"), atomically: true, encoding: .utf8)
        let environment = [
            "PATCHBAY_CONFIG": folder.file("patchbay.yaml").path, "PATCHBAY_DATA": store.path, "PATCHBAY_MASTER_KEY_FILE": key,
            "PATCHBAY_CERT": certificate, "CA": Program.package.appending(path: "certs/dev/ca.cert.pem").path,
            "BACKUPS": folder.url.path, "DIRECTORY": folder.url.path,
            "PATH": try Program.executable.deletingLastPathComponent().path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? ""),
        ]
        let blocks = try Self.document().components(separatedBy: "```").filter { $0.hasPrefix("bash\n") }.map { $0.dropFirst(5) }
        #expect(blocks.count > 5)
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["bash", "-euo", "pipefail", "-c", Self.systemctl + blocks.joined()],
            environment: environment, seconds: 100)
        #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
        for text in [
            "certificate: \(certificate)", "notAfter=", "the store is now encrypted with the key in", "copied 1 recordings of 6 bytes",
            "all is well", store.session.text, "patchbay_build_info{version=", "no webhooks",
        ] {
            #expect(outcome.output.contains(text), "no \"\(text)\" in \(outcome.output)")
        }
        // StoreFolder deletes only its own path.
        try? FileManager.default.removeItem(atPath: store.path + ".damaged")
    }

    /// Whatever is logged is in the document's table, and the other way round.
    @Test func theDocumentListsTheMessagesOfTheEventLog() throws {
        let source = try String(contentsOf: Program.package.appending(path: "Sources/Backend/Events/OperatorLog.swift"), encoding: .utf8)
        let messages = source.matches(of: /(?:message = |\.(?:info|warning|error)\()"([a-z][a-z ]+)"/).map { String($0.1) }
        #expect(messages.count > 10)
        let rows = try Self.document().split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains("`patchbay.") }
        let listed = rows.flatMap { row in
            row.split(separator: "|")[0].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(Set(messages).subtracting(listed) == [])
    }
}
