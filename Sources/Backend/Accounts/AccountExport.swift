internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Store
internal import Synchronization
internal import Wire

/// `GET /v1/me/export`: all data of a user.
enum ExportRoutes {
    static func routes(_ accounts: AccountService, from sources: AccountExport.Sources) -> [Route] {
        let running = RunningExports()
        return [
            Route(
                .get, "/v1/me/export",
                "Exports all data of the user as one JSON document; a Link header continues one that would be larger than 64 MiB",
                access: accounts.ownerAccess, parameters: [.query("cursor", .text(1...256), "Where to continue, from the Link header")],
                responses: [.json(AccountExport.self), .error(.tooManyRequests), .error(.serviceUnavailable)]
            ) { request, user in
                try running.begin(user)
                defer { running.end(user) }
                let export = try await AccountExport(of: user, after: try PageQuery.cursor(of: request), from: sources)
                var response = HTTPServerResponse(
                    status: .ok,
                    fields: [
                        .contentType: "application/json", .contentDisposition: "attachment; filename=\"patchbay-export.json\"",
                    ], body: export.json)
                if let next = export.next { response.fields[.link] = "</v1/me/export?cursor=\(next.text)>; rel=\"next\"" }
                return response
            }
        ]
    }
}

/// The document: the account, its contacts, devices, conversations and calls, and its sessions with turns and summaries. Encoded piece by
/// piece, because it may be large.
struct AccountExport: Described {
    /// The repositories that have its parts.
    struct Sources: Sendable {
        let accounts: Accounts
        let sessions: Sessions
        let conversations: Conversations
        let calls: Calls
    }

    /// Sessions are added until the document has this size, in bytes.
    private static let bytesMax = 64 << 20
    private static let sessionsPerRead = 200

    private(set) var json: [UInt8]
    /// Where the next document continues; nil if this is the last.
    private(set) var next: TimeCursor?

    /// - Parameter cursor: `next` of the previous document; nil for the first.
    init(of id: UserID, after cursor: TimeCursor?, from sources: Sources) async throws {
        json = Array(#"{"user":"#.utf8) + (try JSON.encode(UserView(try await sources.accounts.user(id)), names: .snakeCase))
        if cursor == nil { try await addLists(of: id, from: sources) }
        json += #","sessions":["#.utf8
        next = cursor
        var isFirst = true
        repeat {
            let page = try await sources.sessions.list(of: id, after: next, limit: Self.sessionsPerRead)
            next = page.next
            for line in page.elements {
                guard let session = try await Self.session(line.id, of: id, from: sources.sessions) else { continue }
                if !isFirst { json.append(UInt8(ascii: ",")) }
                json += session
                isFirst = false
                guard json.count < Self.bytesMax else {
                    next = TimeCursor(after: line)
                    break
                }
            }
        } while next != nil && json.count < Self.bytesMax
        json += "]}".utf8
    }

    /// Adds the lists whose length `StoreLimits` bounds. Only the first document has them.
    private mutating func addLists(of id: UserID, from sources: Sources) async throws {
        let limit = StoreLimits.linesPerPageMax
        let contacts = try await Self.all { (cursor: NumberCursor?) -> ([Contact], NumberCursor?) in
            let page = try await sources.accounts.contacts(of: id, after: cursor, limit: limit)
            return (page.elements, page.next)
        }
        try add(contacts, as: "contacts")
        try add(try await sources.calls.pushDevices(of: id).map(PushDeviceView.init), as: "devices")
        let conversations = try await Self.all { (cursor: TimeCursor?) -> ([JSONView<Conversation>.Shown], TimeCursor?) in
            let page = try await sources.conversations.list(of: id, after: cursor, limit: limit)
            return (page.elements.map { ConversationViews.conversation($0) }, page.next)
        }
        add(JSON.text(conversations), as: "conversations")
        try add(try await sources.conversations.texts(of: id).map(ExportedText.init), as: "texts")
        let calls = try await Self.all { (cursor: TimeCursor?) -> ([CallLogEntry], TimeCursor?) in
            let page = try await sources.calls.list(of: id, after: cursor, limit: limit)
            return (page.elements, page.next)
        }
        try add(calls, as: "calls")
    }

    private mutating func add(_ list: [some Encodable], as name: String) throws {
        add(try JSON.encode(list, names: .snakeCase), as: name)
    }

    private mutating func add(_ text: [UInt8], as name: String) {
        json += #","\#(name)":"#.utf8 + text
    }

    /// Reads all pages of a list.
    ///
    /// - Parameter page: reads the page at a cursor, which is nil for the first, and returns the cursor of the next.
    private static func all<Element, Cursor>(
        _ page: (Cursor?) async throws -> ([Element], Cursor?)
    ) async throws -> [Element] {
        var elements: [Element] = []
        var cursor: Cursor?
        repeat {
            let (found, next) = try await page(cursor)
            elements += found
            cursor = next
        } while cursor != nil
        return elements
    }

    /// - Returns: nil if the session has been deleted in the meantime.
    private static func session(_ id: SessionID, of user: UserID, from sessions: Sessions) async throws -> [UInt8]? {
        do throws(StoreError) {
            let record = try await sessions.record(of: id, of: user)
            return JSON.text(ExportedSession.view(ExportedSession(record: record)), capacity: 16_384)
        } catch .notFound {
            return nil
        }
    }

    static let schema = Schema.named(
        "AccountExport",
        .object([
            .required("user", UserView.schema), .optional("contacts", .array(of: Contact.schema)),
            .optional("devices", .array(of: PushDeviceView.schema)),
            .optional("conversations", .array(of: ConversationViews.conversation.schema)),
            .optional("texts", .array(of: ExportedText.schema)),
            .optional("calls", .array(of: CallLogEntry.schema)),
            .required("sessions", .array(of: ExportedSession.view.schema)),
        ]))
}

/// A text that the user wrote in a conversation.
private struct ExportedText: Encodable {
    var conversation: ConversationID
    var timestamp: WallTime
    var text: String

    init(conversation: ConversationID, event: ConversationEvent) {
        self.conversation = conversation
        timestamp = event.at
        text = event.text ?? ""
    }

    static let schema = Schema.named(
        "ExportedText",
        .object([.required("conversation", .uuid), .required("timestamp", .time), .required("text", .text)]))
}

/// A session with everything that the store has of it, and links to its recordings.
private struct ExportedSession: Sendable {
    let record: SessionRecord

    static let view = JSONView<ExportedSession>(
        "ExportedSession",
        [
            .required("session", SessionViews.session.schema) { SessionViews.session($0.record.session) },
            .optional("assistant_id", .text(1...256)) { $0.record.session.assistantID },
            .optional("client_context", .text(0...65_536)) { $0.record.clientContext },
            .nullable("summary", SessionViews.summary.schema) { $0.record.summary.map { SessionViews.summary($0) } },
            .required("turns", .array(of: SessionViews.turn.schema)) { $0.record.turns.map { SessionViews.turn($0) } },
            .required("recordings", .array(of: .text(1...512))) { session in
                session.record.recordings.map { "/v1/sessions/\(session.record.session.id)/recordings/\($0.name)" }
            },
        ])
}

/// Limits concurrent exports, which are expensive: one per user, and `countMax` in total.
private final class RunningExports: Sendable {
    private static let countMax = 2

    private let users = Mutex<Set<UserID>>([])

    func begin(_ user: UserID) throws(HTTPError) {
        try users.withLock { users throws(HTTPError) in
            guard !users.contains(user) else {
                throw HTTPError(
                    .exportRunning, "an export of this account is running; wait for it", retryAfterSeconds: 5)
            }
            guard users.count < Self.countMax else {
                throw HTTPError(.tooManyExports, "other exports are running; try again", retryAfterSeconds: 5)
            }
            users.insert(user)
        }
    }

    func end(_ user: UserID) {
        _ = users.withLock { $0.remove(user) }
    }
}
