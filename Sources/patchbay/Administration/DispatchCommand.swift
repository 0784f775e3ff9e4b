import ArgumentParser
import PatchbayClient
import Wire

struct DispatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dispatch",
        abstract: "Send assistants to rooms of a running gateway.",
        discussion: """
            Each command signs its own token with the API key, valid for one minute.

            EXAMPLES
              patchbay dispatch create --dev --room lobby --assistant default
              patchbay dispatch list --profile staging --room lobby
              patchbay dispatch delete JB_8sTn4VbWxQ2e --dev --room lobby
            """,
        subcommands: [DispatchCreateCommand.self, DispatchListCommand.self, DispatchDeleteCommand.self])
}

struct DispatchCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Send an assistant to a room, which need not be open. At most one job per assistant.",
        discussion: """
            EXAMPLES
              patchbay dispatch create --dev --room lobby --assistant default
              patchbay dispatch create --dev --room lobby --assistant helper \\
                  --metadata "Ask for the order number." --json
            """)

    @Option(help: "The room's name.")
    var room: String
    @Option(help: "The assistant's id.")
    var assistant: String
    @Option(help: "Text for the assistant's worker.")
    var metadata = ""
    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        try await options.perform(.dispatch(assistant, to: room, metadata: metadata), in: room) { job in
            if options.json { return try Console.say(json: job) }
            Console.say("\(job.id) \(job.status.rawValue): \(job.assistant) to \(job.room)")
        }
    }
}

struct DispatchListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the jobs of a room, up to two minutes after their end.",
        discussion: """
            EXAMPLES
              patchbay dispatch list --dev --room lobby
            """)

    @Option(help: "The room's name.")
    var room: String
    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        try await options.perform(.jobs(in: room), in: room) { jobs in
            if options.json { return try Console.say(json: jobs) }
            let rows = jobs.map { [$0.id.text, $0.assistant, $0.status.rawValue, $0.reason.rawValue, String($0.attempt), $0.error ?? "-"] }
            Table.say(["JOB", "ASSISTANT", "STATUS", "REASON", "ATTEMPT", "ERROR"], rows, none: "no jobs")
        }
    }
}

struct DispatchDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "End a job and remove its assistant from the room.",
        discussion: """
            EXAMPLES
              patchbay dispatch delete JB_8sTn4VbWxQ2e --dev --room lobby
            """)

    @Argument(help: "The job's id.")
    var job: String
    @Option(help: "The room's name.")
    var room: String
    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        try await options.perform(.endJob(JobID(text: job), in: room), in: room) { _ in options.printDone("ended \(job)") }
    }
}
