import ArgumentParser
import Foundation
import Sockets

/// The `patchbay` command.
struct PatchbayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchbay",
        abstract: "A WebSocket media gateway for voice assistants.",
        discussion: """
            EXAMPLES
              patchbay serve --dev
              patchbay token --room lobby --identity alice
              patchbay join --dev --room lobby --identity alice --play hello.wav

            EXIT CODES
              0 success, 1 failure, 2 usage error
            """,
        version: Version.full,
        subcommands: [
            ServeCommand.self, TokenCommand.self, JoinCommand.self, RoomCommand.self, ParticipantCommand.self, UserCommand.self,
            SessionCommand.self, StoreCommand.self, WebhookCommand.self, AgentCommand.self, DispatchCommand.self, DemoCommand.self,
        ])
}

@main
enum Main {
    static func main() async {
        do {
            try CommandName.check(Array(CommandLine.arguments.dropFirst()))
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

/// An error that the caller can correct: one line, and exit code 2.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Prints lines for people and scripts. Flushes each line, also when standard output is a pipe.
enum Console {
    static func say(_ line: String) {
        print(line)
        // Flush all streams: C's variable `stdout` is not concurrency-safe in Swift.
        fflush(nil)
    }

    static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// Pretty-printed JSON with sorted keys in snake_case.
    static func say(json value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        say(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
