import Foundation
import Logging
import Store
import Synchronization

/// An error that the caller can correct: one line, and exit code 2.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Why a command that was used correctly has failed, such as a record that does not exist, or a store that another process has: one line, and
/// exit code 1, after which systemd starts a gateway again.
struct CommandFailure: Error, CustomStringConvertible {
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

    /// Whether the log is JSON; then errors are, too. Set before the first error, as far as that is known.
    static let writesJSON = Atomic(false)

    /// Reports an error on standard error.
    static func complain(_ text: String) {
        let prefix = "patchbay: "
        let record = LogRecord(
            time: .now, level: .error, logger: "patchbay", message: text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text)
        FileHandle.standardError.write(
            Data(writesJSON.load(ordering: .relaxed) ? LogFormat.json.line(record) : Array((text + "\n").utf8)))
    }

    static func say(json value: some Encodable) throws { say(try json(value, isPretty: true)) }

    /// One line of JSON, for values without numbers that JSON lacks.
    static func line(of value: some Encodable) -> String { (try? json(value)) ?? "{}" }

    /// JSON with sorted keys in snake_case; on one line unless it is pretty.
    static func json(_ value: some Encodable, isPretty: Bool = false) throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// Lists for people.
enum Table {
    /// Prints a table with columns as wide as their content.
    ///
    /// - Parameter none: printed instead if there are no rows.
    static func say(_ heads: [String], _ rows: [[String]], none: String) {
        guard !rows.isEmpty else { return Console.say(none) }
        let rows = [heads] + rows
        let widths = heads.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }.joined(separator: "  ")
                .replacing(#/ +$/#, with: "")
        }
        Console.say(lines.joined(separator: "\n"))
    }

    /// ISO 8601.
    static func time(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}
