import ArgumentParser
import Testing

@testable import patchbay

struct HelpTests {
    /// Lines of samples begin with two spaces. A wrapped one could not be pasted.
    @Test func samplesInHelpAreNotWrappedAt80Columns() {
        for command in Self.commands(of: PatchbayCommand.self) {
            let lines = Set(command.helpMessage(columns: 80).split(separator: "\n"))
            for sample in command.configuration.discussion.split(separator: "\n") where sample.hasPrefix("  ") {
                #expect(lines.contains(sample), "\(command.configuration.commandName ?? "\(command)"): \(sample)")
            }
        }
    }

    @Test(arguments: [
        (["help", "foo"], "there is no command `patchbay foo`; `patchbay --help` lists the commands"),
        (["serv", "--dev"], "did you mean `patchbay serve`?"),
        (["help", "room", "lst"], "there is no command `patchbay room lst`; did you mean `patchbay room list`? `patchbay room --help`"),
        (["room", "lst", "--dev"], "did you mean `patchbay room list`?"),
    ])
    func anUnknownCommandIsAUsageError(arguments: [String], says: String) throws {
        let error = try #require(throws: UsageError.self) { try CommandName.check(arguments) }
        #expect(error.description.contains(says), "\(error)")
    }

    @Test(arguments: [[], ["help"], ["help", "room", "list"], ["--version"], ["agent", "--dev"], ["store", "backup", "file"]])
    func commandsThatExistPass(arguments: [String]) throws {
        try CommandName.check(arguments)
    }

    @Test func aReleaseSaysItsCommitAndADevelopmentBuildSaysSo() {
        #expect(Version.commit(in: "0123456789abcdef0123456789abcdef01234567") == "0123456789ab")
        #expect(Version.commit(in: "$Format:%H$") == nil)
        #expect(["\(Version.text) (development build)", "\(Version.text) (commit \(Version.commit ?? ""))"].contains(Version.full))
    }

    private static func commands(of command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { commands(of: $0) }
    }
}
