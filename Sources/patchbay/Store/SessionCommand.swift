import ArgumentParser
import Backend
import Foundation
package import Store

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "List, show, export and delete stored conversations.",
        discussion: """
            These commands open the store directly, also while the gateway runs.

            EXAMPLES
              patchbay session list --user ann@example.org --data ./data
              patchbay session show 7c9f2c1e-4f4b-4e57-9e43-1f7f4b1c2d3e \\
                  --user ann@example.org --data ./data
              patchbay session export 7c9f2c1e-4f4b-4e57-9e43-1f7f4b1c2d3e \\
                  --format vtt --user ann@example.org --data ./data > call.vtt
              patchbay session delete --all --user ann@example.org --data ./data
            """,
        subcommands: [SessionListCommand.self, SessionShowCommand.self, SessionExportCommand.self, SessionDeleteCommand.self])
}

struct SessionShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a session with its summary and turns.",
        discussion: """
            EXAMPLES
              patchbay session show 7c9f2c1e-4f4b-4e57-9e43-1f7f4b1c2d3e \\
                  --user ann@example.org --data ./data
            """)

    @Argument(help: "The session's id; `patchbay session list` shows it.")
    var session: SessionID
    @OptionGroup var options: SessionOptions

    func run() async throws {
        let export = try await options.export(of: session)
        let bytes = try await export.file(as: options.store.json ? .json : .txt).bytes
        Console.say(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines))
    }
}

struct SessionExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export a session as text, JSON, subtitles or PDF.",
        discussion: """
            EXAMPLES
              patchbay session export 7c9f2c1e-4f4b-4e57-9e43-1f7f4b1c2d3e \\
                  --user ann@example.org --data ./data --format srt
              patchbay session export 7c9f2c1e-4f4b-4e57-9e43-1f7f4b1c2d3e \\
                  --user ann@example.org --data ./data --format pdf -o call.pdf
            """)

    @Argument(help: "The session's id; `patchbay session list` shows it.")
    var session: SessionID
    @Option(help: "txt, json, vtt, srt or pdf.")
    var format: ExportFormat = .txt
    @Option(name: .shortAndLong, help: "The file to write (default: standard output).")
    var output: String?
    @OptionGroup var options: SessionOptions

    func run() async throws {
        let file = try await options.export(of: session).file(as: format)
        let bytes = file.bytes
        if !file.scriptsWithoutFont.isEmpty {
            FileHandle.standardError.write(
                Data("warning: no installed font has all glyphs of \(file.scriptsWithoutFont.joined(separator: ", "))\n".utf8))
        }
        guard let output else { return FileHandle.standardOutput.write(Data(bytes)) }
        do {
            try Data(bytes).write(to: URL(filePath: output), options: .atomic)
        } catch {
            throw UsageError("--output \(output): cannot write the file; check the path and its permissions")
        }
        try options.store.printDone("wrote \(output)", WrittenFile(file: output, bytes: bytes.count))
    }
}

struct SessionDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a session with all its data, or all sessions of a user.",
        discussion: """
            A call in progress continues, but nothing more of it is stored.

            EXAMPLES
              patchbay session delete 7c9f2c1e-4f4b-4e57-9e43-1f7f4b1c2d3e \\
                  --user ann@example.org --data ./data
              patchbay session delete --all --user ann@example.org --data ./data
            """)

    @Argument(help: "The session's id; `patchbay session list` shows it.")
    var session: SessionID?
    @Flag(help: "Delete all sessions of the user.")
    var all = false
    @OptionGroup var options: SessionOptions

    func run() async throws {
        guard (session == nil) == all else { throw UsageError("pass either a session's id or --all") }
        let count = try await options.with { store, user in
            guard let session else { return try await store.sessions.deleteAll(of: user) }
            do throws(StoreError) {
                try await store.sessions.delete(session, of: user)
            } catch .notFound {
                throw CommandFailure("\(options.user) has no session \(session)")
            }
            return 1
        }
        try options.store.printDone("deleted \(count)", ["deleted": count])
    }
}

struct SessionListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List a user's sessions, newest first.",
        discussion: """
            EXAMPLES
              patchbay session list --user ann@example.org --data ./data --limit 10
              patchbay session list --user ann@example.org --data ./data --json
            """)

    @Option(help: "Maximum number of sessions, 1 to 100000.")
    var limit = 100
    @OptionGroup var options: SessionOptions

    func run() async throws {
        guard 1...100_000 ~= limit else { throw UsageError("--limit \(limit) is not between 1 and 100000") }
        let listings = try await options.with { store, user in try await list(store.sessions, user) }
        if options.store.json { return try Console.say(json: listings.map(SessionLine.init)) }
        let rows = listings.map { listing in
            [
                listing.id.text, Table.time(listing.startedAt.milliseconds / 1_000),
                listing.endedAt.map { Table.time($0.milliseconds / 1_000) } ?? "-", listing.title ?? "",
            ]
        }
        Table.say(["ID", "STARTED", "ENDED", "TITLE"], rows, none: "no sessions")
    }

    private func list(_ store: Sessions, _ user: UserID) async throws -> [SessionListing] {
        var listings: [SessionListing] = []
        var cursor: TimeCursor?
        repeat {
            let page = try await store.list(
                of: user, after: cursor, limit: min(limit - listings.count, StoreLimits.sessionsPerPageMax))
            listings += page.elements
            cursor = page.next
        } while cursor != nil && listings.count < limit
        return listings
    }
}

/// The user whose sessions are accessed. Required, so that nobody sees sessions of an unspecified user.
struct SessionOptions: ParsableArguments {
    @Option(help: "The user: an e-mail address or a user id.")
    var user: String
    @OptionGroup var store: StoreOptions

    /// Runs an operation for the user on the open store, then closes the store.
    func with<Answer>(_ body: (Store, UserID) async throws -> Answer) async throws -> Answer {
        let store = try store.openBeside()
        defer { try? store.close() }
        let id: UserID
        do throws(StoreError) {
            if let named = UserID(text: user) {
                id = try await store.accounts.user(named).id
            } else {
                id = try await store.accounts.user(email: user).id
            }
        } catch .notFound {
            throw CommandFailure("there is no user \(user)")
        }
        return try await body(store, id)
    }

    /// A session with its summary and turns, in the user's language and time zone.
    func export(of id: SessionID) async throws -> Export {
        try await with { store, user in
            do throws(StoreError) {
                return Export(try await store.sessions.record(of: id, of: user), try await store.accounts.user(user).settings)
            } catch .notFound {
                throw CommandFailure("\(self.user) has no session \(id)")
            }
        }
    }
}

extension SessionID: ExpressibleByArgument {
    package init?(argument: String) { self.init(text: argument) }
}

extension ExportFormat: ExpressibleByArgument {}
