import Foundation
import Store
import Testing

@Suite(.timeLimit(.minutes(2)))
struct SessionCommandTests {
    private let folder: StoreFolder

    init() async throws {
        folder = try await StoreFolder()
    }

    private func session(_ arguments: String..., of user: String = "ann@example.org") async throws -> Program.Outcome {
        try await Program.run(nil, ["session"] + arguments + ["--user", user, "--data", folder.path], seconds: 30)
    }

    @Test func jsonListsUseTheNamesOfTheHTTPAPI() async throws {
        let outcome = try await session("list", "--json")
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let lines = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        #expect(lines.count == 1)
        #expect(lines.first.map { Set($0.keys) } == ["id", "title", "summary_snippet", "started_at", "ended_at"])
        #expect(lines.first?["id"] as? String == folder.session.text)
    }

    @Test func showPrintsTheTurns() async throws {
        let outcome = try await session("show", folder.session.text)
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(outcome.output.contains("Your table at the harbour is booked."))
    }

    @Test(arguments: [("txt", "Conversation"), ("json", "{"), ("vtt", "WEBVTT"), ("srt", "1\r\n"), ("pdf", "%PDF-")])
    func sessionsExportInEveryFormat(format: String, beginning: String) async throws {
        let outcome = try await session("export", folder.session.text, "--format", format)
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(outcome.output.hasPrefix(beginning), "\(outcome.output.prefix(40))")
    }

    @Test func deletedSessionsAreGone() async throws {
        let outcome = try await session("delete", folder.session.text, "--json")
        #expect(outcome.status == 0 && outcome.output.contains("\"deleted\" : 1"), "\(outcome.output)\(outcome.complaint)")
        #expect(try await session("list").output == "no sessions\n")
        let again = try await session("delete", folder.session.text)
        #expect(again.status == 1 && again.complaint.contains("has no session"), "\(again.complaint)")
    }

    @Test func sessionsAreHiddenFromOtherUsers() async throws {
        let created = try await folder.run("user", "create", "bob@example.org", environment: ["PATCHBAY_PASSWORD": StoreFolder.password])
        #expect(created.status == 0, "\(created.complaint)")
        for command in ["show", "export", "delete"] {
            let outcome = try await session(command, folder.session.text, of: "bob@example.org")
            #expect(outcome.status == 1 && outcome.output == "", "\(command): \(outcome.output)")
        }
        #expect(try await session("show", folder.session.text).status == 0)
    }

    @Test func wrongUseIsExitCode2() async throws {
        #expect(try await folder.run("session", "list").status == 2)
        #expect(try await session("show", "no-uuid").status == 2)
        #expect(try await session("delete").status == 2)
        #expect(try await session("list", "--limit", "0").status == 2)
        #expect(try await session("list", of: "nobody@example.org").status == 1)
    }
}
