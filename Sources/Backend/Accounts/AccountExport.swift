internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Store
internal import Synchronization
internal import Wire

/// `GET /v1/me/export`: all data of a user.
enum ExportRoutes {
    static func routes(_ accounts: AccountService) -> [Route] {
        let running = RunningExports()
        return [
            Route(
                .get, "/v1/me/export",
                "Exports all data of the user as one JSON document; a Link header continues one that would be larger than 64 MiB",
                access: accounts.ownerAccess, parameters: [.query("cursor", .text(1...256), "Where to continue, from the Link header")],
                responses: [.json(AccountExport.self), .error(.tooManyRequests), .error(.serviceUnavailable)]
            ) { request, user in
                let cursor = try request.query("cursor").map { text throws(StoreError) in try SessionCursor(text: text) }
                try running.begin(user)
                defer { running.end(user) }
                let export = try await AccountExport(of: user, after: cursor, from: accounts.store)
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
    /// Sessions are added until the document has this size, in bytes.
    private static let bytesMax = 64 << 20
    private static let sessionsPerRead = 200

    private(set) var json: [UInt8]
    /// Where the next document continues; nil if this is the last.
    private(set) var next: SessionCursor?

    /// - Parameter cursor: `next` of the previous document; nil for the first.
    init(of id: UserID, after cursor: SessionCursor?, from store: SessionStore) async throws {
        json = Array(#"{"user":"#.utf8) + (try JSON.encode(UserView(try await store.user(id)), names: .snakeCase))
        if cursor == nil { try await addLists(of: id, from: store) }
        json += #","sessions":["#.utf8
        next = cursor
        var isFirst = true
        repeat {
            let page = try await store.sessions(of: id, after: next, limit: Self.sessionsPerRead)
            next = page.next
            for line in page.sessions {
                guard let session = try await Self.session(line.id, of: id, from: store) else { continue }
                if !isFirst { json.append(UInt8(ascii: ",")) }
                json += session
                isFirst = false
                guard json.count < Self.bytesMax else {
                    next = SessionCursor(after: line)
                    break
                }
            }
        } while next != nil && json.count < Self.bytesMax
        json += "]}".utf8
    }

    /// Adds the lists whose length `StoreLimits` bounds. Only the first document has them.
    private mutating func addLists(of id: UserID, from store: SessionStore) async throws {
        let limit = StoreLimits.linesPerPageMax
        let contacts = try await Self.all { (cursor: NumberCursor?) -> ([Contact], NumberCursor?) in
            let page = try await store.contacts(of: id, after: cursor, limit: limit)
            return (page.elements, page.next)
        }
        try add(contacts, as: "contacts")
        try add(try await store.pushDevices(of: id).map(PushDeviceView.init), as: "devices")
        let conversations = try await Self.all { (cursor: TimeCursor?) -> ([ConversationView], TimeCursor?) in
            let page = try await store.conversations(of: id, after: cursor, limit: limit)
            return (page.conversations.map(ConversationView.init), page.next)
        }
        try add(conversations, as: "conversations")
        try add(try await store.texts(of: id).map(ExportedText.init), as: "texts")
        let calls = try await Self.all { (cursor: TimeCursor?) -> ([CallLogEntry], TimeCursor?) in
            let page = try await store.calls(of: id, after: cursor, limit: limit)
            return (page.entries, page.next)
        }
        try add(calls, as: "calls")
    }

    private mutating func add(_ list: [some Encodable], as name: String) throws {
        json += #","\#(name)":"#.utf8 + (try JSON.encode(list, names: .snakeCase))
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
    private static func session(_ id: SessionID, of user: UserID, from store: SessionStore) async throws -> [UInt8]? {
        do throws(StoreError) {
            let record = try await store.record(of: id, of: user)
            let recordings = try await store.recordings(of: id, of: user)
            return JSON.text(ExportedSession(record: record, recordings: recordings), capacity: 16_384)
        } catch .notFound {
            return nil
        }
    }

    static let schema = Schema.named(
        "AccountExport",
        .object([
            .required("user", UserView.schema), .optional("contacts", .array(of: Contact.schema)),
            .optional("devices", .array(of: PushDeviceView.schema)), .optional("conversations", .array(of: ConversationView.schema)),
            .optional("texts", .array(of: ExportedText.schema)),
            .optional("calls", .array(of: CallLogEntry.schema)),
            .required("sessions", .array(of: ExportedSession.schema)),
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
private struct ExportedSession: JSONWritable {
    let record: SessionRecord
    let recordings: [String]

    func write(to json: inout JSONOutput) {
        let detail = SessionDetail(record)
        json.writeObject { json in
            json.writeMember("session", detail.session)
            if let assistant = record.session.assistantID { json.writeMember("assistant_id", assistant) }
            if let context = record.clientContext { json.writeMember("client_context", context) }
            json.writeMember("summary", detail.summary)
            json.writeMember("turns", detail.turns)
            json.writeMember("recordings")
            json.writeArray(recordings) { $0.write("/v1/sessions/\(record.session.id)/recordings/\($1)") }
        }
    }

    static let schema = Schema.named(
        "ExportedSession",
        .object([
            .required("session", SessionView.schema), .optional("assistant_id", .text(1...256)),
            .optional("client_context", .text(0...65_536)), .required("summary", .nullable(SummaryView.schema)),
            .required("turns", .array(of: TurnView.schema)), .required("recordings", .array(of: .text(1...512))),
        ]))
}

/// Limits concurrent exports, which are expensive: one per user, and `countMax` in total.
private final class RunningExports: Sendable {
    private static let countMax = 2

    private let users = Mutex<Set<UserID>>([])

    func begin(_ user: UserID) throws(HTTPError) {
        try users.withLock { users throws(HTTPError) in
            guard !users.contains(user) else {
                throw HTTPError(
                    .tooManyRequests, "export_running", "an export of this account is running; wait for it", retryAfterSeconds: 5)
            }
            guard users.count < Self.countMax else {
                throw HTTPError(.serviceUnavailable, "too_many_exports", "other exports are running; try again", retryAfterSeconds: 5)
            }
            users.insert(user)
        }
    }

    func end(_ user: UserID) {
        _ = users.withLock { $0.remove(user) }
    }
}
