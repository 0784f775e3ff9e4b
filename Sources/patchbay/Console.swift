import Foundation

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
