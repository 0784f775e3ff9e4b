private import Foundation

/// Prints a line at once: who reads it through a pipe must know it even if the process then dies.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
