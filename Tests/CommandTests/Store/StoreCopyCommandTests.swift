import Foundation
import Store
import Testing

@Suite(.timeLimit(.minutes(2)))
struct StoreCopyCommandTests {
    private let folder: StoreFolder

    init() async throws {
        folder = try await StoreFolder()
    }

    private func copy(to destination: String, _ more: String...) async throws -> Program.Outcome {
        try await Program.run(nil, ["store", "copy", "--from", folder.path, "--to", destination] + more, seconds: 60)
    }

    @Test func aCopyIsVerifiedAndServesTheSameSessions() async throws {
        try await folder.addRecording(named: "voice.ogg", Data("sealed".utf8))
        let copied = try await copy(to: folder.file("new"))
        #expect(copied.status == 0, "\(copied.output)\(copied.complaint)")
        for text in ["copied ", "verified", "1 sessions", "2 turns", "copy \(folder.path)/recordings to \(folder.file("new"))/recordings"] {
            #expect(copied.output.contains(text), "no \"\(text)\" in \(copied.output)")
        }
        #expect(copied.complaint.contains("verifying the source") && copied.complaint.contains("verifying the copy"))
        let key = ["--data", folder.file("new"), "--master-key", folder.file("master.key")]
        let list = try await Program.run(nil, ["session", "list", "--user", "ann@example.org"] + key, seconds: 30)
        #expect(list.status == 0 && list.output.contains(folder.session.text), "\(list.complaint)")

        let again = try await copy(to: folder.file("new"))
        #expect(again.status == 2 && again.complaint.contains("--to: There is a store in"), "\(again.complaint)")
        let json = try await copy(to: folder.file("newer"), "--json", "--no-verify")
        #expect(json.status == 0, "\(json.complaint)")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect((report["tables"] as? [String: Int])?["turns"] == 2 && report["recordings"] as? Int == 1 && report["verified"] == nil)
    }

    @Test func aRunningGatewayOrAWrongURIIsAnError() async throws {
        let gateway = try await ServedGateway(["--data", folder.path])
        let outcome = try await copy(to: folder.file("new"))
        #expect(outcome.status == 1 && outcome.complaint.contains("is in use by the gateway, process "), "\(outcome.complaint)")
        gateway.signal(SIGTERM)
        #expect(await gateway.status() == 0)
        let uri = try await copy(to: "postgresql://[host/patchbay")
        #expect(uri.status == 2 && uri.complaint.contains("not a connection URI"), "\(uri.complaint)")
        let unreachable = try await copy(to: "postgresql://127.0.0.1:1/patchbay")
        #expect(unreachable.status == 1 && unreachable.complaint.contains("--to: "), "\(unreachable.complaint)")
        let nowhere = try await Program.run(
            nil,
            ["store", "copy", "--from", folder.file("nowhere"), "--to", folder.file("new"), "--master-key", folder.file("master.key")],
            seconds: 30)
        #expect(nowhere.status == 2 && nowhere.complaint.contains("There is no store in"), "\(nowhere.complaint)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("new")))
    }

    @Test func aDamagedStoreIsNotCopied() async throws {
        let damage = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(\"UPDATE turns SET text = x'00'\"); c.commit()"
        let python = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["python3", "-c", damage, folder.file("patchbay.sqlite")], seconds: 30)
        try #require(python.status == 0, "\(python.complaint)")
        let outcome = try await copy(to: folder.file("new"))
        #expect(outcome.status == 1 && outcome.complaint.contains("nothing was copied"), "\(outcome.complaint)")
        #expect(outcome.output.contains("Cannot be read: turns.text"), "\(outcome.output)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("new")))
    }

    @Test func migrateSaysWhatIsDone() async throws {
        let current = try await folder.run("store", "migrate", "--dry-run")
        #expect(current.status == 0 && current.output.contains("turn-audio: was done already"), "\(current.output)\(current.complaint)")
        let script = """
            import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("ALTER TABLE turns DROP COLUMN audio")
            c.execute("DELETE FROM grdb_migrations WHERE identifier = 'turn-audio'"); c.commit()
            """
        let python = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["python3", "-c", script, folder.file("patchbay.sqlite")], seconds: 30)
        try #require(python.status == 0, "\(python.complaint)")
        let planned = try await folder.run("store", "migrate", "--dry-run")
        #expect(planned.output.contains("turn-audio: to be done") && planned.output.contains("steps to do: 1"), "\(planned.output)")
        let done = try await folder.run("store", "migrate", "--json")
        #expect(done.status == 0 && done.output.contains("\"is_expansion\""), "\(done.output)\(done.complaint)")
        let after = try await folder.run("store", "migrate")
        #expect(after.output.contains("the schema is current"), "\(after.output)")
        #expect(try await folder.run("store", "verify").status == 0)
    }
}
