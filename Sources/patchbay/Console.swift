import Foundation

/// Prints lines for people and scripts. Flushes each line, also when standard output is a pipe.
enum Console {
    static func say(_ line: String) {
        print(line)
        // All streams: the variable `stdout` is C's, and not for Swift's concurrency.
        fflush(nil)
    }

    static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// JSON as people read it, its names in snake case and in the order of the alphabet.
    static func say(json value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        say(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
