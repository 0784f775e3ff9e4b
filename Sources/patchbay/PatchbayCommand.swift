import ArgumentParser
import Foundation
import Sockets
import Synchronization
import YAMLSettings

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
              patchbay profile add shop --url wss://voice.example \\
                  --api-key my-app --api-secret-file ~/.shop-secret
              patchbay room list

            EXIT CODES
              0 success, 1 failure, 2 wrong usage or configuration
            """,
        version: Version.full,
        subcommands: [
            ServeCommand.self, TokenCommand.self, JoinCommand.self, RoomCommand.self, ParticipantCommand.self, UserCommand.self,
            SessionCommand.self, StoreCommand.self, WebhookCommand.self, AgentCommand.self, DispatchCommand.self, DemoCommand.self,
            ProfileCommand.self,
        ])
}

@main
enum Main {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        Console.writesJSON.store(LogFormat.isJSON(arguments, ProcessInfo.processInfo.environment), ordering: .relaxed)
        do {
            try CommandName.check(arguments)
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
        let message = code == .validationFailure ? PatchbayCommand.fullMessage(for: error) : "patchbay: \(error)"
        if !(error is ExitCode) { Console.complain(message) }
        exit(Self.status(of: error))
    }

    /// The exit code: 2 if the command or the configuration is wrong, 1 for what may pass.
    static func status(of error: any Error) -> Int32 {
        if error is UsageError || error is ConfigurationError || error is TLSFileError { return 2 }
        if let error = error as? ListenError { return error.mayPass ? 1 : 2 }
        return PatchbayCommand.exitCode(for: error) == .validationFailure ? 2 : (error as? ExitCode)?.rawValue ?? 1
    }
}

/// Finds commands that do not exist. ArgumentParser prints the help of the command above for `help` of an unknown one, with exit code 0, and
/// complains about the first option where the command's name is misspelled.
enum CommandName {
    /// - Parameter arguments: without the program's name.
    /// - Throws: `UsageError`.
    static func check(_ arguments: [String]) throws {
        var command: any ParsableCommand.Type = PatchbayCommand.self
        var path = "patchbay"
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let known = command.configuration.subcommands
            let names = known.map { $0.configuration.commandName ?? "" }
            guard !known.isEmpty, !word.hasPrefix("-") else { return }
            guard let index = names.firstIndex(of: word) else {
                let meant = Suggestion.nearest(to: word, among: names)
                throw UsageError(
                    "there is no command `\(path) \(word)`; \(meant.map { "did you mean `\(path) \($0)`? " } ?? "")"
                        + "`\(path) --help` lists the commands")
            }
            command = known[index]
            path += " " + word
        }
    }
}
