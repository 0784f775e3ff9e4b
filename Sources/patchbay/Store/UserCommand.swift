import ArgumentParser
import Backend
import Foundation
import Glibc
import HTTPServer
import Identity
import Store
import Wire

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Create accounts.",
        discussion: """
            EXAMPLES
              patchbay user create ann@example.org --data ./data
            """,
        subcommands: [UserCreateCommand.self])
}

struct UserCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an account, also while the gateway runs.",
        discussion: """
            Prompts for the password, or reads it from the first line of standard input or from PATCHBAY_PASSWORD.

            EXAMPLES
              patchbay user create ann@example.org --data ./data
              pwgen 20 1 | patchbay user create ann@example.org \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key --json
            """)

    @Argument(help: "The e-mail address.")
    var email: String
    @OptionGroup var options: StoreOptions

    func run() async throws {
        if let fault = Schema.email.fault(in: .string(email)) { throw UsageError("the e-mail address \(fault.trimmingPrefix("it "))") }
        let store = try options.openBeside()
        let password = try ProcessInfo.processInfo.environment["PATCHBAY_PASSWORD"] ?? PasswordPrompt.ask("Password for \(email): ")
        if let fault = Schema.password.fault(in: .string(password)) { throw UsageError("the password \(fault.trimmingPrefix("it "))") }
        let user: User
        do throws(StoreError) {
            user = try await store.accounts.createUser(email: email, password: SecretText(password), at: .now)
        } catch .emailTaken {
            throw UsageError("\(email) already has an account")
        }
        try store.close()
        try options.printDone("\(user.id)", ["id": user.id.text, "email": email])
    }
}

extension WallTime {
    static var now: WallTime { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }
}

/// Reads a password without echo.
enum PasswordPrompt {
    /// Reads a line of standard input; on a terminal, with a prompt and without echo.
    ///
    /// - Throws: `UsageError` at the end of the input.
    static func ask(_ question: String) throws -> String {
        var shown = termios()
        let isTerminal = isatty(STDIN_FILENO) != 0 && tcgetattr(STDIN_FILENO, &shown) == 0
        if isTerminal {
            var hidden = shown
            hidden.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
            FileHandle.standardError.write(Data(question.utf8))
        }
        defer {
            if isTerminal {
                tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
                Console.complain("")
            }
        }
        guard let line = readLine(strippingNewline: true), !line.isEmpty else {
            throw UsageError("no password; pass it on standard input or in PATCHBAY_PASSWORD")
        }
        return line
    }
}
