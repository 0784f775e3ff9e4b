private import Foundation

/// Prints a line unbuffered, so that the reader of a pipe gets it even if the process crashes next.
func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
