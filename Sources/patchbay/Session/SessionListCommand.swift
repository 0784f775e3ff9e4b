import ArgumentParser
import Backend
import Foundation
import Store

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
        let listings = try await options.with { store, user in try await list(store, user) }
        if options.store.json { return try Console.say(json: listings.map(SessionLine.init)) }
        var table = Table("ID", "STARTED", "ENDED", "TITLE")
        for listing in listings {
            table.add(
                listing.id.text, Table.time(listing.startedAt.milliseconds / 1_000),
                listing.endedAt.map { Table.time($0.milliseconds / 1_000) } ?? "-", listing.title ?? "")
        }
        Console.say(listings.isEmpty ? "no sessions" : table.text)
    }

    private func list(_ store: SessionStore, _ user: UserID) async throws -> [SessionListing] {
        var listings: [SessionListing] = []
        var cursor: SessionCursor?
        repeat {
            let page = try await store.sessions(
                of: user, after: cursor, limit: min(limit - listings.count, StoreLimits.sessionsPerPageMax))
            listings += page.sessions
            cursor = page.next
        } while cursor != nil && listings.count < limit
        return listings
    }
}
