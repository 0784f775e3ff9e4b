import Foundation
import Glibc

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
