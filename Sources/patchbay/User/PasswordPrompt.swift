import Foundation
import Glibc

/// Reads a password without echo.
enum PasswordPrompt {
    /// The next line of standard input; where that is a terminal, asked for and not shown.
    ///
    /// - Throws: `UsageError` where there is none.
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
