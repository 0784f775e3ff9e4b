import ArgumentParser
import Foundation
import Store

struct StoreCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy a store between a directory and PostgreSQL. Stop the gateway first.",
        discussion: """
            SOURCE and DESTINATION are a directory, as in `serve --data`, or the URI of a PostgreSQL database, as in `serve --database`. \
            The copy has the same master key, and nothing is decrypted for it. The source is not changed. Serve only one of the two, \
            because both would send the same webhooks.

            The command verifies the source before the copy and the copy afterwards, as `store verify` does. If the source is damaged, or \
            the results differ, it ends with exit code 1 and without a copy.

            Recordings are files and are not copied. A gateway with a database keeps them in its directory `data`, too.

            The password of a database is read from the URI, from the file that PATCHBAY_DATABASE_PASSWORD_FILE names, or from libpq's \
            password file (PGPASSFILE, ~/.pgpass). For two databases with different passwords use the last one.

            EXAMPLES
              patchbay store copy --from /var/lib/patchbay \\
                  --to 'postgresql://patchbay@db.example/patchbay' \\
                  --master-key /etc/patchbay.key
              patchbay store copy --to /var/lib/patchbay.new \\
                  --from 'postgresql://patchbay@db.example/patchbay' \\
                  --master-key /etc/patchbay.key
            """)

    @Option(help: ArgumentHelp("The store: a directory or a postgresql:// URI.", valueName: "source"))
    var from: String
    @Option(help: ArgumentHelp("A directory or a database without a store.", valueName: "destination"))
    var to: String
    @Flag(name: .customLong("no-verify"), help: "Verify neither the source nor the copy; compare only the numbers of rows.")
    var isUnverified = false
    @OptionGroup var options: StoreKeyOptions

    func run() async throws {
        let source = try StoreSettings.end(from, option: "--from", masterKeyFile: options.masterKey)
        let destination = try StoreSettings.end(to, option: "--to", masterKeyFile: options.masterKey)
        let key = try source.explained { try source.key(.beside, nil) }
        let began = ContinuousClock.now
        let progress = CopyProgress()
        let copy = StoreCopy(from: try source.location, to: try destination.location, masterKeys: [key], isVerified: !isUnverified)
        try destination.explained { try copy.checkVacant() }
        let report = try source.explained {
            defer { progress.end() }
            return try copy.run { progress.report($0) }
        }
        if let problems = report.verified?.problems, !problems.isEmpty {
            for problem in problems { Console.say(problem) }
            throw CommandFailure(
                "the store in \(source.name) is damaged, and nothing was copied; restore a backup, or copy it as it is with --no-verify")
        }
        let seconds = began.duration(to: .now) / .seconds(1)
        if options.json { return try Console.say(json: CopiedStore(from: source.name, to: destination.name, seconds: seconds, report)) }
        let tables = report.tables.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        if report.recordings > 0 { Console.say(recordings(report.recordings, source, destination)) }
        Console.say(
            """
            copied \(report.rows) rows to \(destination.name) in \(seconds.formatted(.number.precision(.fractionLength(1)))) s\
            \(isUnverified ? "" : ", verified"): \(tables.joined(separator: ", "))
            """)
    }

    private func recordings(_ count: Int, _ source: StoreSettings, _ destination: StoreSettings) -> String {
        let files = source.directory.map { $0 + "/recordings" } ?? "the folder recordings of each gateway's directory `data`"
        guard let directory = destination.directory else {
            return "\(count) recordings are files and stay in \(files); serve the database with the same `data`"
        }
        return "\(count) recordings are files; copy \(files) to \(directory)/recordings"
    }
}

/// JSON output of `store copy`.
private struct CopiedStore: Encodable {
    var from: String
    var to: String
    var seconds: Double
    var rows: Int
    /// Rows by table.
    var tables: [String: Int]
    /// Files that are not copied.
    var recordings: Int
    /// Nil with `--no-verify`.
    var verified: StoreReport?

    init(from: String, to: String, seconds: Double, _ report: StoreCopy.Report) {
        (self.from, self.to, self.seconds) = (from, to, seconds)
        (rows, tables, recordings, verified) = (report.rows, report.tables, report.recordings, report.verified)
    }
}

/// Progress of a copy on standard error: one changing line on a terminal, otherwise a line every few seconds.
private final class CopyProgress {
    private static let lineInterval = Duration.seconds(5)
    private static let redrawInterval = Duration.milliseconds(200)

    private let isTerminal = isatty(STDERR_FILENO) != 0
    private var next = ContinuousClock.now
    private var last: String?

    func report(_ progress: StoreCopy.Progress) {
        let text: String
        switch progress {
        case .verifyingSource: text = "verifying the source"
        case .verifyingCopy: text = "verifying the copy"
        case .copying(let table, let rows, let total):
            guard ContinuousClock.now >= next else { return }
            text = "copying \(table): \(rows * 100 / max(total, 1)) % of \(total) rows"
        }
        next = .now + (isTerminal ? Self.redrawInterval : Self.lineInterval)
        guard text != last else { return }
        last = text
        write(isTerminal ? "\r\u{1B}[K" + text : text + "\n")
    }

    /// Clears the line.
    func end() {
        if isTerminal, last != nil { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
