import Foundation
import Store
import Testing

@Suite(.timeLimit(.minutes(2)))
struct StoreCommandTests {
    private let folder: StoreFolder

    init() async throws {
        folder = try await StoreFolder()
    }

    @Test func validStoresAreReportedInOneLine() async throws {
        let outcome = try await folder.run("store", "verify")
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(outcome.output.contains("1 users, 1 sessions, 2 turns") && outcome.output.contains("all is well"), "\(outcome.output)")
    }

    @Test func aDamagedStoreIsExitCode1AndSaysWhere() async throws {
        let damage = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(\"UPDATE turns SET text = x'00'\"); c.commit()"
        let python = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["python3", "-c", damage, folder.file("patchbay.sqlite")], seconds: 30)
        try #require(python.status == 0, "\(python.complaint)")
        let outcome = try await folder.run("store", "verify", "--json")
        #expect(outcome.status == 1)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect((report["problems"] as? [String])?.count == 2, "\(outcome.output)")
        #expect(outcome.complaint == "")
    }

    @Test func backupsOfARunningGatewayOpenWithTheSameKey() async throws {
        let gateway = try await ServedGateway(["--data", folder.path])
        let copy = folder.file("copy/patchbay.sqlite")
        try FileManager.default.createDirectory(atPath: folder.file("copy"), withIntermediateDirectories: true)
        let outcome = try await folder.run("store", "backup", copy)
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let again = try await folder.run("store", "backup", copy)
        #expect(again.status == 2 && again.complaint.contains("already"), "\(again.complaint)")
        gateway.signal(SIGTERM)
        #expect(await gateway.status() == 0)
        let list = try await Program.run(
            nil,
            [
                "session", "list", "--user", "ann@example.org", "--data", folder.file("copy"), "--master-key", folder.file("master.key"),
            ], seconds: 30)
        #expect(list.status == 0 && list.output.contains(folder.session.text), "\(list.complaint)")
    }

    @Test func backupsIncludeRecordingsAndCanBeRestored() async throws {
        let recording = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0) })
        try await folder.addRecording(named: "voice.ogg", recording)
        try recording.write(to: URL(filePath: folder.file("recordings/orphan.ogg")))
        let outcome = try await folder.run("store", "backup", folder.file("monday.sqlite"), "--json")
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let copied = try #require(report["recordings"] as? [String: Any], "\(outcome.output)")
        #expect(copied["files"] as? Int == 1 && copied["bytes"] as? Int == 5_000 && copied["missing"] as? Int == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("monday.recordings")) == ["voice.ogg"])

        let restored = folder.file("restored")
        try FileManager.default.createDirectory(atPath: restored, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: folder.file("monday.sqlite"), toPath: restored + "/patchbay.sqlite")
        try FileManager.default.copyItem(atPath: folder.file("monday.recordings"), toPath: restored + "/recordings")
        let verified = try await Program.run(
            nil, ["store", "verify", "--data", restored, "--master-key", folder.file("master.key")], seconds: 30)
        #expect(verified.status == 0 && verified.output.contains("all is well"), "\(verified.output)\(verified.complaint)")
        #expect(FileManager.default.contents(atPath: restored + "/recordings/voice.ogg") == recording)
    }

    @Test func aBackupSaysIfItLacksRecordings() async throws {
        try await folder.addRecording(named: "voice.ogg", Data("sealed".utf8))
        let without = try await folder.run("store", "backup", folder.file("a.sqlite"), "--without-recordings")
        #expect(without.output.contains("recordings are not included: 1 in \(folder.path)/recordings"), "\(without.output)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("a.recordings")))
        try FileManager.default.createDirectory(atPath: folder.file("b.recordings"), withIntermediateDirectories: true)
        let twice = try await folder.run("store", "backup", folder.file("b.sqlite"))
        #expect(twice.status == 2 && twice.complaint.contains("choose another name"), "\(twice.complaint)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("b.sqlite")), "nothing was written before the refusal")
    }

    @Test func aStoreWithoutRecordingsHasNoneToBackUp() async throws {
        let outcome = try await folder.run("store", "backup", folder.file("c.sqlite"))
        #expect(outcome.status == 0 && outcome.output.contains("there are no recordings"), "\(outcome.output)\(outcome.complaint)")
    }

    @Test func rotateKeyRefusesWhileTheGatewayRuns() async throws {
        let gateway = try await ServedGateway(["--data", folder.path])
        let outcome = try await folder.run("store", "rotate-key", "--to", folder.file("new.key"))
        #expect(outcome.status == 1)
        #expect(outcome.complaint.contains("is in use by the gateway, process "), "\(outcome.complaint)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("new.key")), "no key that locks nothing")
        gateway.signal(SIGTERM)
        #expect(await gateway.status() == 0)
        #expect(try await folder.run("store", "verify").status == 0)
    }

    @Test func onlyTheNewKeyOpensARotatedStore() async throws {
        let outcome = try await folder.run("store", "rotate-key", "--to", folder.file("new.key"))
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let byOld = try await folder.run("store", "verify")
        #expect(byOld.status == 2 && byOld.complaint.contains("is locked with the master key"), "\(byOld.complaint)")
        #expect(byOld.complaint.split(separator: "\n").count == 1)
        let byNew = try await folder.run("store", "verify", "--master-key", folder.file("new.key"))
        #expect(byNew.status == 0, "\(byNew.complaint)")
        // An interrupted run can be repeated.
        #expect(try await folder.run("store", "rotate-key", "--to", folder.file("new.key")).status == 0)
    }

    @Test func commandsDoNotCreateAStore() async throws {
        let nowhere = folder.file("nowhere")
        let outcome = try await Program.run(nil, ["store", "verify", "--data", nowhere], seconds: 30)
        #expect(outcome.status == 2 && outcome.complaint.contains("there is no store"), "\(outcome.complaint)")
        #expect(!FileManager.default.fileExists(atPath: nowhere))
    }
}
