import Foundation
import PatchbayClient
import Testing
import Wire

@testable import patchbay

/// `--curl`: the printed commands, run by a shell against a gateway.
@Suite(.timeLimit(.minutes(2)))
struct CurlTests {
    /// Prints the command, and runs it.
    ///
    /// - Returns: the response's body.
    private func curl(_ gateway: ServedGateway, _ arguments: String...) async throws -> String {
        let printed = try await Program.run(nil, arguments + ["--curl", "--dev", "--url", gateway.url], seconds: 20)
        #expect(printed.status == 0 && printed.complaint.isEmpty, "\(printed.complaint)")
        #expect(printed.output.hasPrefix("curl -sS --fail-with-body --cacert "), "\(printed.output)")
        #expect(printed.output.split(separator: "\n").count == 1, "\(printed.output)")
        let outcome = try await Program.run(URL(filePath: "/bin/sh"), ["-c", printed.output], seconds: 20)
        #expect(outcome.status == 0, "\(printed.output)\(outcome.output)\(outcome.complaint)")
        return outcome.output
    }

    @Test func printedCommandsShowMuteAndRemove() async throws {
        let gateway = try await ServedGateway()
        let room = "a room, it's ü?"
        let alice = try await gateway.join(room, as: "alice")
        let voice = try await alice.publish()
        #expect(try await curl(gateway, "room", "list").contains(room))
        #expect(try await curl(gateway, "room", "show", room).contains("\"alice\""))
        _ = try await curl(gateway, "participant", "mute", room, voice.sid.text)
        #expect(try await curl(gateway, "room", "show", room).contains("\"muted\":true"))
        _ = try await curl(gateway, "participant", "remove", room, "alice")
        for await event in alice.events {
            if case .disconnected(let reason) = event { #expect(reason == .closed(.removed)) }
        }
        _ = try await curl(gateway, "room", "delete", room)
        #expect(try await curl(gateway, "room", "list").contains(room) == false)
    }

    @Test func printedCommandsDispatchAssistants() async throws {
        let gateway = try await ServedGateway()
        let metadata = #"Ask for Ann's "number"; $HOME `id` \ %20 @file"#
        let created = try await curl(
            gateway, "dispatch", "create", "--room", "lobby", "--assistant", "default", "--metadata", metadata)
        let text = try String(decoding: JSONEncoder().encode(metadata), as: UTF8.self).replacing("\\/", with: "/")
        #expect(created.contains("\"metadata\":\(text)"), "\(created)")
        let id = try #require(created.firstMatch(of: /JB_[A-Za-z0-9]+/)).output
        #expect(try await curl(gateway, "dispatch", "list", "--room", "lobby").contains(id))
        #expect(try await curl(gateway, "dispatch", "delete", String(id), "--room", "lobby").contains(id))
    }

    @Test func printingMakesNoRequest() async throws {
        let arguments = ["room", "delete", "lobby", "--curl", "--url", "wss://[::1]:1", "--api-key", "devkey", "--insecure"]
        let outcome = try await Program.run(nil, arguments, seconds: 20)
        #expect(outcome.status == 0 && outcome.complaint.isEmpty, "\(outcome.complaint)")
        #expect(
            outcome.output.wholeMatch(
                of:
                    /curl -sS --fail-with-body --insecure -X DELETE -H 'Authorization: Bearer [A-Za-z0-9._-]+' 'https:\/\/\[::1\]:1\/v1\/rooms\/lobby'\n/
            )
                != nil, "\(outcome.output)")
    }

    @Test func namesThatCannotBePartOfAPathAreRefused() async throws {
        let outcome = try await Program.run(nil, ["room", "show", "a/b", "--dev", "--curl"], seconds: 20)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.complaint.contains("cannot be part of an HTTP path"), "\(outcome.complaint)")
    }

    @Test(arguments: [
        ("https://127.0.0.1:7880/v1/rooms/a%20b", "https://127.0.0.1:7880/v1/rooms/a%20b"), ("", "''"), ("it's", #"'it'\''s'"#),
        ("$HOME", "'$HOME'"), ("a\nb", "'a\nb'"), ("~", "'~'"), ("ü", "'ü'"),
    ])
    func wordsAreQuotedForTheShell(word: String, quoted: String) {
        #expect(Shell.quoted(word) == quoted)
    }
}
