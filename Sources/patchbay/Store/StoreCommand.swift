import ArgumentParser
import Foundation
import Identity
import Store

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Verify, back up and re-encrypt a gateway's store.",
        discussion: """
            EXAMPLES
              patchbay store verify \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
              patchbay store backup /backup/patchbay.sqlite \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
              patchbay store rotate-key --to /etc/patchbay.new.key \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
            """,
        subcommands: [StoreVerifyCommand.self, StoreBackupCommand.self, StoreRotateKeyCommand.self])
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
