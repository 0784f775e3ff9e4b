package import HTTPServer
package import Store
package import Wire

struct StartBody: Decodable, Sendable, Described {
    var context: String
    var assistantId: String?
    var clientContext: String?
    var voice: String?
    var language: String?

    static let schema = Schema.named(
        "SessionStart",
        .object([
            .required("context", .choice(Session.contexts)), .optional("assistant_id", .text(1...256)),
            .optional("client_context", .text(0...65_536)), .optional("voice", .choice(AssistantDefinition.voices)),
            .optional("language", .text(2...LanguageTag.bytesMax)),
        ]))
}

/// The URL and token of a session's room.
struct SessionToken: Encodable, Sendable, Described {
    var sessionId: SessionID
    var livekitUrl: String
    var livekitToken: String
    var roomName: String
    /// The same as `logged` in `Hello`.
    var logged: Bool

    static let schema = Schema.named(
        "SessionToken",
        .object([
            .required("session_id", .uuid), .required("livekit_url", .uri), .required("livekit_token", .text(1...16_384)),
            .required("room_name", .text(1...256)), .required("logged", .boolean),
        ]))
}

/// A further device of a session.
struct DeviceBody: Decodable, Sendable, Described {
    var context: String

    static let schema = Schema.named("SessionDevice", .object([.required("context", .choice(Session.contexts))]))
}

struct EndBody: Decodable, Sendable, Described {
    var sessionId: SessionID

    static let schema = Schema.named("SessionEnd", .object([.required("session_id", .uuid)]))
}

/// A session in a list. Missing summary fields are empty.
package struct SessionLine: Encodable, JSONWritable, Sendable, Described {
    var id: SessionID
    var title: String
    var summarySnippet: String
    var startedAt: WallTime
    /// Null, not omitted, while the session is active.
    var endedAt: WallTime?

    package init(_ listing: SessionListing) {
        id = listing.id
        title = listing.title ?? ""
        summarySnippet = listing.summarySnippet ?? ""
        startedAt = listing.startedAt
        endedAt = listing.endedAt
    }

    private enum CodingKeys: String, CodingKey { case id, title, summarySnippet, startedAt, endedAt }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(title, forKey: .title)
        try fields.encode(summarySnippet, forKey: .summarySnippet)
        try fields.encode(startedAt, forKey: .startedAt)
        try fields.encode(endedAt, forKey: .endedAt)
    }

    package func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("id", id)
            json.writeMember("title", title)
            json.writeMember("summary_snippet", summarySnippet)
            json.writeMember("started_at", startedAt)
            json.writeMember("ended_at", endedAt)
        }
    }

    package static let schema = Schema.named(
        "SessionLine",
        .object([
            .required("id", .uuid), .required("title", .text), .required("summary_snippet", .text), .required("started_at", .time),
            .required("ended_at", .nullable(.time)),
        ]))
}

struct TurnBody: Decodable, Sendable, Described {
    var speaker: Turn.Speaker
    var text: String
    var timestamp: WallTime
    var audioRef: String?

    static let schema = Schema.named(
        "NewTurn",
        .object([
            .required("speaker", .choice(["user", "assistant"])), .required("text", .text(1...65_536)), .required("timestamp", .time),
            .optional("audio_ref", .text(1...256)),
        ]))
}

/// Whether a turn was stored. Turns of unlogged sessions are not.
struct TurnReceipt: Encodable, Sendable, Described {
    var id: TurnID
    var stored: Bool

    static let schema = Schema.named("TurnReceipt", .object([.required("id", .uuid), .required("stored", .boolean)]))
}

/// JSON responses that describe sessions to clients.
enum SessionViews {
    /// A session without its turns.
    static let session = JSONView<Session>(
        "Session",
        [
            .required("id", .uuid) { $0.id }, .required("user_id", .uuid) { $0.userID }, .required("context", .text(1...64)) { $0.context },
            .optional("language", .text(1...LanguageTag.bytesMax)) { $0.language }, .required("started_at", .time) { $0.startedAt },
            // Null while the session is active.
            .nullable("ended_at", .time) { $0.endedAt }, .required("logging_enabled_snapshot", .boolean) { $0.loggingEnabledSnapshot },
            .required("summary_status", .choice(SummaryStatus.allCases.map(\.rawValue))) { $0.summaryStatus.rawValue },
        ])

    static let turn = JSONView<Turn>(
        "Turn",
        [
            .required("id", .uuid) { $0.id }, .required("timestamp", .time) { $0.timestamp },
            .required("speaker", .choice(["user", "assistant"])) { $0.speaker.rawValue }, .required("text", .text) { $0.text },
            .optional("audio_ref", .text(1...256)) { $0.audioRef },
        ])

    static let summary = JSONView<Summary>(
        "Summary",
        [
            .required("id", .uuid) { $0.id }, .required("title", .text) { $0.content.title },
            .required("summary_text", .text) { $0.content.summaryText },
            .required("action_items", .array(of: .text)) { $0.content.actionItems },
            .required("tags", .array(of: .text)) { $0.content.tags }, .required("created_at", .time) { $0.createdAt },
            // Made without the configured model because it failed.
            .optional("provisional", .boolean) { $0.isProvisional ? true : nil },
        ])

    static let recording = JSONView<SessionRecording>(
        "Recording",
        [
            .required("name", .text(1...256)) { $0.name },
            // The node of a cluster that holds the file.
            .optional("node", .text(1...256)) { $0.node.isEmpty ? nil : $0.node },
        ])

    /// A session with its summary, null until it exists, its turns and its recordings.
    static let detail = JSONView<SessionRecord>(
        "SessionDetail",
        [
            .required("session", session.schema) { session($0.session) },
            .nullable("summary", summary.schema) { $0.summary.map { summary($0) } },
            .required("turns", .array(of: turn.schema)) { $0.turns.map { turn($0) } },
            .required("recordings", .array(of: recording.schema)) { $0.recordings.map { recording($0) } },
        ])
}

/// A message about a session on its user's channel (docs/protocol/calls.md). Without text of the conversation.
struct SessionEvent: JSONWritable, Sendable {
    enum Kind: String, Sendable {
        case started = "session.started"
        case ended = "session.ended"
        /// A summary was stored.
        case summaryReady = "session.summary_ready"
    }

    var kind: Kind
    var session: Session

    init(_ kind: Kind, _ session: Session) {
        self.kind = kind
        self.session = session
    }

    var bytes: [UInt8] { JSON.text(self) }

    func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("type", kind.rawValue)
            json.writeMember("data")
            json.writeObject { json in json.writeMember("session", SessionViews.session(session)) }
        }
    }
}
