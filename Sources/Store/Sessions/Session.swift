package import Wire

/// One conversation of one user with an assistant.
package struct Session: Sendable, Hashable {
    package var id: SessionID
    package var userID: UserID
    /// The kind of client; one of `contexts`, except in sessions of earlier versions.
    package var context: String
    package var assistantID: String?
    /// The language of the conversation as a BCP 47 tag; nil if neither the request, the user nor the assistant specifies one.
    package var language: String?
    package var startedAt: WallTime
    /// Nil while the session is open.
    package var endedAt: WallTime?
    /// Whether the user allowed logging when the session started. Applies to the whole session.
    package var loggingEnabledSnapshot: Bool
    package var summaryStatus = SummaryStatus.pending
    /// Of the request that started it.
    package var trace: TraceContext?

    package var roomName: String { Self.roomName(of: id) }

    package static func roomName(of id: SessionID) -> String { roomPrefix + id.text }

    /// The session that a room belongs to; nil for other rooms.
    package static func id(ofRoom name: String) -> SessionID? {
        name.hasPrefix(roomPrefix) ? SessionID(text: String(name.dropFirst(roomPrefix.count))) : nil
    }

    /// The kinds of clients.
    package static let contexts = ["phone", "tablet", "watch", "desktop", "web", "carplay"]

    /// The prefix of session rooms' names.
    package static let roomPrefix = "session-"

    /// Whether a client of this kind may show conversation text during a session: a car's display must not (Apple's rule for CarPlay).
    package static func showsText(in context: String) -> Bool { context != "carplay" }
}

package enum SummaryStatus: String, Sendable, Codable, CaseIterable, SQLValue {
    /// A session that is not logged never has a summary.
    case notLogged = "none"
    case pending, ready, failed
}

/// Parameters of a new session.
package struct SessionRequest: Sendable {
    package var context: String
    package var assistantID: String?
    /// The assistant's language, which applies if the user has chosen none.
    package var assistantLanguage: String?
    /// Context for the assistant. Stored only if the session is logged.
    package var clientContext: String?
    /// The voice for this session, in place of the user's setting.
    package var voice: String?
    package var language: String?
    /// Chosen by the client: the same key within a day identifies the same session.
    package var idempotencyKey: String?
    package var trace: TraceContext?

    package init(
        context: String, assistantID: String? = nil, assistantLanguage: String? = nil, clientContext: String? = nil, voice: String? = nil,
        language: String? = nil, idempotencyKey: String? = nil, trace: TraceContext? = nil
    ) {
        self.context = context
        self.assistantID = assistantID
        self.assistantLanguage = assistantLanguage
        self.clientContext = clientContext
        self.voice = voice
        self.language = language
        self.idempotencyKey = idempotencyKey
        self.trace = trace
    }
}

/// A session with its summary, turns and recordings.
package struct SessionRecord: Sendable, Hashable {
    package var session: Session
    package var clientContext: String?
    package var summary: Summary?
    /// Ordered by time, then by arrival.
    package var turns: [Turn]
    package var recordings: [SessionRecording]
}

/// A session as listed.
package struct SessionListing: Sendable, Hashable {
    package var id: SessionID
    /// Nil until there is a summary.
    package var title: String?
    /// The beginning of the summary.
    package var summarySnippet: String?
    package var startedAt: WallTime
    package var endedAt: WallTime?
}

/// Context for an assistant in a session.
package struct SessionBackground: Sendable, Hashable {
    /// Always nil for a session that is not logged.
    package var clientContext: String?
    /// The voice and language that the user has chosen, for the session or in the settings.
    package var voice: String?
    package var language: String?
    /// Earlier sessions, newest first; empty unless the user shares past summaries.
    package var past: [PastSession]

    package init(clientContext: String? = nil, voice: String? = nil, language: String? = nil, past: [PastSession] = []) {
        self.clientContext = clientContext
        self.voice = voice
        self.language = language
        self.past = past
    }
}

/// An earlier session and its summary.
package struct PastSession: Sendable, Hashable {
    package var id: SessionID
    package var title: String
    package var summaryText: String
    package var endedAt: WallTime
}
