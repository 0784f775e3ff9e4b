import ArgumentParser
import Testing

@testable import patchbay

struct HelpTests {
    /// Help is wrapped at 80 columns, so a longer line of a sample could not be pasted.
    @Test func samplesInHelpFitEightyColumns() {
        for command in Self.commands(of: PatchbayCommand.self) {
            for line in command.configuration.discussion.split(separator: "\n") where line.hasPrefix("  ") {
                #expect(line.count < 80, "\(command.configuration.commandName ?? "\(command)"): \(line)")
            }
        }
    }

    private static func commands(of command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { commands(of: $0) }
    }
}
