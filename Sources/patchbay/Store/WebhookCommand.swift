import ArgumentParser
import Foundation
import Store

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "List webhooks and send them again.",
        discussion: """
            These commands open the store directly, also while the gateway runs. A webhook is waiting until its endpoint responds with \
            2xx. It is dead after a day of retries, or when its endpoint responds with 410. Delivered and dead webhooks are kept for \
            three days.

            EXAMPLES
              patchbay webhook list \\
                  --data /var/lib/patchbay --master-key /etc/patchbay.key
              patchbay webhook list --status dead --json
              patchbay webhook replay EV_0b0f6f3e-94f8-4f3c-8a55-0d2c7f9e1b7a
            """,
        subcommands: [WebhookListCommand.self, WebhookReplayCommand.self])
}

struct WebhookListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List webhooks, newest first.",
        discussion: """
            EXAMPLES
              patchbay webhook list --limit 20
              patchbay webhook list --status waiting --json
            """)

    @Option(help: "Filter by status: waiting, delivered or dead.")
    var status: StoredWebhook.Status?
    @Option(help: "Maximum number of webhooks, 1 to 100000.")
    var limit = 100
    @OptionGroup var options: StoreOptions

    func run() async throws {
        guard 1...100_000 ~= limit else { throw UsageError("--limit \(limit) is not between 1 and 100000") }
        let store = try options.openBeside()
        let webhooks = try await store.webhooks.list(status, limit: limit)
        try store.close()
        let views = webhooks.map(WebhookView.init)
        if options.json { return try Console.say(json: views) }
        let rows = views.map {
            [$0.id, $0.event, $0.room, $0.endpoint, $0.status, String($0.attempts), "\($0.toldAt)", $0.reason ?? ""]
        }
        Table.say(["ID", "EVENT", "ROOM", "ENDPOINT", "STATUS", "ATTEMPTS", "TOLD", "REASON"], rows, none: "no webhooks")
    }
}

struct WebhookReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send a webhook again to all its endpoints.",
        discussion: """
            A running gateway sends it within seconds, otherwise the next gateway does after its start. The webhook keeps its identifier \
            and content, and is signed again.

            EXAMPLES
              patchbay webhook replay EV_0b0f6f3e-94f8-4f3c-8a55-0d2c7f9e1b7a \\
                  --data /var/lib/patchbay
            """)

    @Argument(help: "The webhook's identifier, as shown by `list` and sent as `id`.")
    var id: String
    @OptionGroup var options: StoreOptions

    func run() async throws {
        let bare = id.hasPrefix(WebhookEvent.idPrefix) ? String(id.dropFirst(WebhookEvent.idPrefix.count)) : id
        guard let webhook = WebhookID(text: bare) else {
            throw UsageError("\"\(id)\" is not a webhook's identifier; see `patchbay webhook list`")
        }
        let store = try options.openBeside()
        do throws(StoreError) {
            try await store.webhooks.replay(webhook, at: .now)
        } catch .notFound {
            throw CommandFailure("there is no webhook \(id), or no longer")
        }
        try store.close()
        try options.printDone("\(id) will be sent again", [String: String]())
    }
}

/// One webhook in the output of `list`, with the field names that receivers see.
private struct WebhookView: Encodable {
    let id: String
    let event: String
    let room: String
    let endpoint: String
    let status: String
    let attempts: Int
    let toldAt: WallTime
    /// The error of the last delivery attempt.
    let reason: String?
    /// The `X-Request-ID` of the HTTP request that caused it.
    let request: String?

    init(_ stored: StoredWebhook) {
        id = WebhookEvent.idPrefix + stored.webhook.id.text
        event = stored.webhook.event
        room = stored.webhook.room
        endpoint = stored.webhook.endpoint
        status = stored.status.rawValue
        attempts = stored.attempts
        toldAt = stored.enqueuedAt
        reason = stored.reason
        request = stored.webhook.requestID
    }
}

extension StoredWebhook.Status: ExpressibleByArgument {}
