import ArgumentParser
import Foundation
import Sockets

/// The command `patchbay`: one word for each thing one does with a gateway.
struct PatchbayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchbay",
        abstract: "The switchboard between people and voice assistants: a WebSocket media gateway.",
        discussion: """
            EXAMPLES
              patchbay serve --dev
              patchbay token --room lobby --identity alice
              patchbay join --dev --room lobby --identity alice --play hello.wav --record heard.ogg

            EXIT CODES
              0 done, 1 failed, 2 used wrongly
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, TokenCommand.self, JoinCommand.self, RoomCommand.self, ParticipantCommand.self, UserCommand.self,
            SessionCommand.self, StoreCommand.self, WebhookCommand.self, DemoCommand.self,
        ])
}

@main
enum Main {
    static func main() async {
        do {
            var command = try PatchbayCommand.parseAsRoot()
            if var asyncCommand = command as? any AsyncParsableCommand {
                try await asyncCommand.run()
            } else {
                try command.run()
            }
        } catch {
            finish(error)
        }
    }

    private static func finish(_ error: any Error) -> Never {
        let code = PatchbayCommand.exitCode(for: error)
        if code == .success {
            Console.say(PatchbayCommand.fullMessage(for: error))
            exit(0)
        }
        if let usage = error as? UsageError {
            Console.complain("patchbay: \(usage)")
            exit(2)
        }
        let message = code == .validationFailure ? PatchbayCommand.fullMessage(for: error) : "patchbay: \(error)"
        if !(error is ExitCode) { Console.complain(message) }
        exit(code == .validationFailure ? 2 : (error as? ExitCode)?.rawValue ?? 1)
    }
}

/// Something that the one who called us has to put right: one line, and exit code 2.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

enum Version {
    static let text = "0.1.0"
}
