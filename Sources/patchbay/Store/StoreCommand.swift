import ArgumentParser
import Foundation
import Identity
import Store

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Check, copy and lock anew what a gateway keeps.",
        discussion: """
            EXAMPLES
              patchbay store verify --data /var/lib/patchbay --master-key /etc/patchbay.key
              patchbay store backup /backup/patchbay.sqlite --data /var/lib/patchbay --master-key /etc/patchbay.key
              patchbay store rotate-key --to /etc/patchbay.new.key --data /var/lib/patchbay --master-key /etc/patchbay.key
            """,
        subcommands: [StoreVerifyCommand.self, StoreBackupCommand.self, StoreRotateKeyCommand.self])
}

struct StoreVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read everything and check it, also while the gateway runs.",
        discussion: """
            Exit code 1 if anything is damaged: each problem is one line.

            EXAMPLES
              patchbay store verify --data ./data
              patchbay store verify --data /var/lib/patchbay --master-key /etc/patchbay.key --json
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
        abstract: "Copy the store as it is now to a new file, also while the gateway runs.",
        discussion: """
            The copy is as locked as the store: keep the master key too, elsewhere. To go back, put the copy into a directory of its own \
            under the name patchbay.sqlite and serve that.

            EXAMPLES
              patchbay store backup /backup/monday.sqlite --data /var/lib/patchbay --master-key /etc/patchbay.key
            """)

    @Argument(help: "The file to write; it must not be there yet.")
    var file: String
    @OptionGroup var options: StoreOptions

    func run() async throws {
        let store = try options.openBeside()
        do {
            try await store.backup(to: file)
        } catch {
            guard case .refused(let reason) = error else { throw error }
            throw UsageError(reason)
        }
        try store.close()
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
        try options.printDone("\(file) has the store as it is now, \(size) bytes", WrittenFile(file: file, bytes: size))
    }
}

struct StoreRotateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Lock the store with another master key. The gateway must not run.",
        discussion: """
            Afterwards the store opens with the new key only. Copies that were made before open with the old one: keep it as long as they.

            EXAMPLES
              patchbay store rotate-key --to /etc/patchbay.new.key --data /var/lib/patchbay --master-key /etc/patchbay.key
            """)

    @Option(help: ArgumentHelp("The file with the new key; made if it is not there.", valueName: "file"))
    var to: String
    @OptionGroup var options: StoreOptions

    func run() async throws {
        let settings = try options.settings()
        do {
            // With both: perhaps it was locked with the new one before, and nobody learned of it.
            let known = FileManager.default.fileExists(atPath: to) ? try MasterKey(file: to) : nil
            let store = try settings.open(.owner, knowing: known.map { [$0] } ?? [])
            let key = try known ?? MasterKey.make(file: to)
            try await store.rotate(to: key)
            try store.close()
            try options.printDone("the store is locked with the key in \(to)", ["master_key_file": to, "id": key.id])
        } catch let error as MasterKeyError {
            throw UsageError("--to: \(error)")
        }
    }
}
