import ArgumentParser
import Foundation
import Identity
import Store

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Verify, back up, copy, update and re-encrypt a gateway's store.",
        discussion: """
            EXAMPLES
              patchbay store verify \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
              patchbay store backup /backup/patchbay.sqlite \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
              patchbay store rotate-key --to /etc/patchbay.new.key \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
              patchbay store copy --from /var/lib/patchbay \\
                  --to 'postgresql://patchbay@db.example/patchbay' \\
                  --master-key /etc/patchbay.key
              patchbay store migrate --dry-run \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
            """,
        subcommands: [
            StoreVerifyCommand.self, StoreBackupCommand.self, StoreRotateKeyCommand.self, StoreCopyCommand.self, StoreMigrateCommand.self,
        ])
}

struct StoreVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read and verify all records, also while the gateway runs.",
        discussion: """
            Prints one line per problem. Exit code 1 if there is any.

            EXAMPLES
              patchbay store verify --data ./data
              patchbay store verify \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key --json
            """)

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let store = try options.openBeside()
        let report = try await store.verify()
        try store.close()
        if options.json {
            try Console.say(json: report)
        } else {
            for problem in report.problems { Console.say(problem) }
            Console.say(
                """
                \(report.users) users, \(report.sessions) sessions, \(report.turns) turns, \(report.summaries) summaries, \
                \(report.webhooks) webhooks: \(report.isClean ? "all is well" : "damaged")
                """)
            if !report.isClean {
                Console.say(
                    "Stop the gateway of \(try options.settings().name) and restore a backup; `patchbay store backup --help` says how.")
            }
        }
        if !report.isClean { throw ExitCode.failure }
    }
}

struct StoreBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the store and its recordings, also while the gateway runs.",
        discussion: """
            Writes the database to FILE and the recordings, if there are any, to a directory beside it: monday.recordings for \
            monday.sqlite. The copy is encrypted like the store: back up the master key as well, in another place.

            To restore, copy both into a new directory, as patchbay.sqlite and recordings, and serve that directory.

            EXAMPLES
              patchbay store backup /backup/monday.sqlite \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
              mkdir -m 700 /var/lib/restored
              cp /backup/monday.sqlite /var/lib/restored/patchbay.sqlite
              cp -r /backup/monday.recordings /var/lib/restored/recordings
            """)

    @Argument(help: "The file to write. It must not exist.")
    var file: String
    @Flag(name: .customLong("without-recordings"), help: "Copy the database only, for example because another tool copies the recordings.")
    var withoutRecordings = false
    @OptionGroup var options: StoreOptions

    func run() async throws {
        guard try options.settings().database == nil else {
            throw UsageError(
                "this store is in PostgreSQL; back it up with `pg_dump`, and its recordings with a copy of their directory on each node")
        }
        let recordings = RecordingsBackup(of: try options.directory(), beside: file)
        if !withoutRecordings { try recordings.checkAbsent() }
        let store = try options.openBeside()
        let names: [String]
        do {
            names = try await store.backup(to: file)
        } catch {
            guard case .refused(let reason) = error else { throw error }
            throw UsageError(reason)
        }
        try store.close()
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
        let copy = withoutRecordings ? nil : try recordings.copy(names)
        try options.printDone(
            """
            wrote a backup of \(size) bytes to \(file)
            \(copy?.description ?? "recordings are not included: \(names.count) in \(recordings.source.path)")
            """, WrittenBackup(file: file, bytes: size, recordings: copy))
    }
}

struct StoreRotateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Re-encrypt the store with another master key. Stop the gateway first.",
        discussion: """
            Afterwards only the new key opens the store. Keep the old key as long as you keep backups made with it.

            EXAMPLES
              patchbay store rotate-key --to /etc/patchbay.new.key \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
            """)

    @Option(help: ArgumentHelp("The file with the new key. Created if it does not exist.", valueName: "file"))
    var to: String
    @OptionGroup var options: StoreOptions

    func run() async throws {
        let settings = try options.settings()
        do {
            // Try both keys: a previous run may have been interrupted after it rotated the key.
            let known = FileManager.default.fileExists(atPath: to) ? try MasterKey(file: to) : nil
            let store = try settings.open(.owner, knowing: known.map { [$0] } ?? [])
            let key = try known ?? MasterKey.make(file: to)
            try await store.rotate(to: key)
            try store.close()
            try options.printDone("the store is now encrypted with the key in \(to)", ["master_key_file": to, "id": key.id])
        } catch let error as MasterKeyError {
            throw UsageError("--to: \(error)")
        }
    }
}

/// Copies a store's recordings to a directory beside the backup of its database. The encrypted files are copied as they are; the copy of a
/// file that is still being written is readable up to its last complete chunk.
struct RecordingsBackup {
    let source: URL
    let destination: URL

    /// - Parameters:
    ///   - directory: of the store.
    ///   - file: the backup of its database.
    init(of directory: String, beside file: String) {
        source = URL(filePath: directory).appending(path: "recordings", directoryHint: .isDirectory)
        let name = file.hasSuffix(".sqlite") ? String(file.dropLast(".sqlite".count)) : file
        destination = URL(filePath: name + ".recordings", directoryHint: .isDirectory)
    }

    /// - Throws: `UsageError` if the destination exists.
    func checkAbsent() throws {
        guard !FileManager.default.fileExists(atPath: destination.path) else {
            throw UsageError("There is a directory at \(destination.path) already; choose another name for the backup.")
        }
    }

    /// Copies the files of these recordings. Missing files were deleted in the meantime, or belong to a call that has just begun.
    func copy(_ names: [String]) throws -> Copy {
        guard !names.isEmpty else { return Copy(directory: nil, files: 0, bytes: 0, missing: 0) }
        // An interrupted copy must not look complete.
        let unfinished = URL(filePath: destination.path + ".unfinished", directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: unfinished)
        try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var copy = Copy(directory: destination.path, files: 0, bytes: 0, missing: 0)
        for name in names {
            let file = source.appending(path: name, directoryHint: .notDirectory)
            let target = unfinished.appending(path: name, directoryHint: .notDirectory)
            do {
                try FileManager.default.copyItem(at: file, to: target)
            } catch {
                guard !FileManager.default.fileExists(atPath: file.path) else { throw error }
                copy.missing += 1
                continue
            }
            copy.files += 1
            copy.bytes += try FileManager.default.attributesOfItem(atPath: target.path)[.size] as? Int ?? 0
        }
        try FileManager.default.moveItem(at: unfinished, to: destination)
        return copy
    }

    struct Copy: Encodable, CustomStringConvertible {
        /// Nil if there were no recordings.
        var directory: String?
        var files: Int
        var bytes: Int
        /// Recordings without a file.
        var missing: Int

        var description: String {
            guard let directory else { return "there are no recordings" }
            return "copied \(files) recordings of \(bytes) bytes to \(directory)" + (missing > 0 ? "; \(missing) have no file" : "")
        }
    }
}

/// JSON output of `store backup`.
struct WrittenBackup: Encodable {
    var file: String
    var bytes: Int
    /// Nil if they were left out.
    var recordings: RecordingsBackup.Copy?
}
