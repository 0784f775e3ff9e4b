package import HTTPServer
package import Store
package import Wire

struct StartBody: Decodable, Sendable, Described {
    var context: String
    var assistantId: String?
    var clientContext: String?

    static let schema = Schema.named(
        "SessionStart",
        .object([
            .required("context", .choice(Session.contexts)), .optional("assistant_id", .text(1...256)),
            .optional("client_context", .text(0...65_536)),
        ]))
}

/// The URL and token of a session's room.
struct SessionTicket: Encodable, Sendable, Described {
    var sessionId: SessionID
    var livekitUrl: String
    var livekitToken: String
    var roomName: String

    static let schema = Schema.named(
        "SessionTicket",
        .object([
            .required("session_id", .uuid), .required("livekit_url", .uri), .required("livekit_token", .text(1...16_384)),
            .required("room_name", .text(1...256)),
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

/// A session without its turns.
struct SessionView: JSONWritable, Sendable, Described {
    var id: SessionID
    var userId: UserID
    var context: String
    /// Omitted if there is none.
    var language: String?
    var startedAt: WallTime
    /// Null while the session is active.
    var endedAt: WallTime?
    var loggingEnabledSnapshot: Bool
    var summaryStatus: SummaryStatus

    init(_ session: Session) {
        id = session.id
        userId = session.userID
        context = session.context
        language = session.language
        startedAt = session.startedAt
        endedAt = session.endedAt
        loggingEnabledSnapshot = session.loggingEnabledSnapshot
        summaryStatus = session.summaryStatus
    }

    func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("id", id)
            json.writeMember("user_id", userId)
            json.writeMember("context", context)
            if let language { json.writeMember("language", language) }
            json.writeMember("started_at", startedAt)
            json.writeMember("ended_at", endedAt)
            json.writeMember("logging_enabled_snapshot", loggingEnabledSnapshot)
            json.writeMember("summary_status", summaryStatus.rawValue)
        }
    }

    static let schema = Schema.named(
        "Session",
        .object([
            .required("id", .uuid), .required("user_id", .uuid), .required("context", .text(1...64)),
            .optional("language", .text(1...LanguageTag.bytesMax)), .required("started_at", .time),
            .required("ended_at", .nullable(.time)), .required("logging_enabled_snapshot", .boolean),
            .required("summary_status", .choice(SummaryStatus.allCases.map(\.rawValue))),
        ]))
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

    static let schema = Schema.named(
        "NewTurn",
        .object([
            .required("speaker", .choice(["user", "assistant"])), .required("text", .text(1...65_536)), .required("timestamp", .time),
        ]))
}

struct TurnView: JSONWritable, Sendable, Described {
    var id: TurnID
    var timestamp: WallTime
    var speaker: Turn.Speaker
    var text: String
    var audioRef: String?

    init(_ turn: Turn) {
        id = turn.id
        timestamp = turn.timestamp
        speaker = turn.speaker
        text = turn.text
        audioRef = turn.audioRef
    }

    func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("id", id)
            json.writeMember("timestamp", timestamp)
            json.writeMember("speaker", speaker.rawValue)
            json.writeMember("text", text)
            if let audioRef {
                json.writeMember("audio_ref", audioRef)
            }
        }
    }

    static let schema = Schema.named(
        "Turn",
        .object([
            .required("id", .uuid), .required("timestamp", .time), .required("speaker", .choice(["user", "assistant"])),
            .required("text", .text), .optional("audio_ref", .text(1...256)),
        ]))
}

/// Whether a turn was stored. Turns of unlogged sessions are not.
struct TurnReceipt: Encodable, Sendable, Described {
    var id: TurnID
    var stored: Bool

    static let schema = Schema.named("TurnReceipt", .object([.required("id", .uuid), .required("stored", .boolean)]))
}

struct SummaryView: JSONWritable, Sendable, Described {
    var id: SummaryID
    var title: String
    var summaryText: String
    var actionItems: [String]
    var tags: [String]
    var createdAt: WallTime
    /// Made without the configured model because it failed; omitted if false.
    var provisional: Bool

    init(_ summary: Summary) {
        id = summary.id
        title = summary.content.title
        summaryText = summary.content.summaryText
        actionItems = summary.content.actionItems
        tags = summary.content.tags
        createdAt = summary.createdAt
        provisional = summary.isProvisional
    }

    func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("id", id)
            json.writeMember("title", title)
            json.writeMember("summary_text", summaryText)
            json.writeMember("action_items")
            json.writeArray(actionItems) { $0.write($1) }
            json.writeMember("tags")
            json.writeArray(tags) { $0.write($1) }
            json.writeMember("created_at", createdAt)
            if provisional { json.writeMember("provisional", true) }
        }
    }

    static let schema = Schema.named(
        "Summary",
        .object([
            .required("id", .uuid), .required("title", .text), .required("summary_text", .text),
            .required("action_items", .array(of: .text)), .required("tags", .array(of: .text)), .required("created_at", .time),
            .optional("provisional", .boolean),
        ]))
}

/// A session with its summary and turns.
struct SessionDetail: JSONWritable, Sendable, Described {
    var session: SessionView
    /// Null until the summary exists.
    var summary: SummaryView?
    var turns: [TurnView]

    init(_ record: SessionRecord) {
        session = SessionView(record.session)
        summary = record.summary.map(SummaryView.init)
        turns = record.turns.map(TurnView.init)
    }

    func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("session", session)
            json.writeMember("summary", summary)
            json.writeMember("turns", turns)
        }
    }

    static let schema = Schema.named(
        "SessionDetail",
        .object([
            .required("session", SessionView.schema), .required("summary", .nullable(SummaryView.schema)),
            .required("turns", .array(of: TurnView.schema)),
        ]))
}
