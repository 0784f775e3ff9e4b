import ArgumentParser
import Store

struct StoreMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Update the schema of a store, as `serve` does at its start.",
        discussion: """
            Prints the steps. Gateways of the previous version can continue to use a database whose new steps are all expansions; otherwise \
            stop them first. The gateway of a store in a directory must be stopped, except for --dry-run.

            EXAMPLES
              patchbay store migrate --dry-run \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
              patchbay store migrate --master-key /etc/patchbay.key \\
                  --database 'postgresql://patchbay@db.example/patchbay'
            """)

    @Flag(name: .customLong("dry-run"), help: "Change nothing, and print what would be done.")
    var isDryRun = false
    @OptionGroup var options: StoreOptions

    func run() async throws {
        let settings = try options.settings()
        let report = try settings.explained {
            try Store.migrate(settings.location, masterKeys: [settings.key(.beside, nil)], isDryRun: isDryRun)
        }
        if options.json { return try Console.say(json: report) }
        for step in report.done { Console.say("\(step.name): was done already") }
        for step in report.pending {
            Console.say("\(step.name): \(isDryRun ? "to be done" : "done")\(step.isExpansion ? ", an expansion" : "")")
        }
        Console.say(
            report.pending.isEmpty
                ? "the schema is current"
                : isDryRun ? "steps to do: \(report.pending.count)" : "steps done: \(report.pending.count); the schema is current")
    }
}
