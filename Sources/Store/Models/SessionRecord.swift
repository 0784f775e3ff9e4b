/// What a session begins with.
package struct SessionRequest: Sendable {
    package var context: String
    package var assistantID: String?
    /// What the app tells the assistant. Not kept unless the session is logged.
    package var clientContext: String?
    /// Of the client's choice: the same key within a day is the same session.
    package var idempotencyKey: String?

    package init(context: String, assistantID: String? = nil, clientContext: String? = nil, idempotencyKey: String? = nil) {
        self.context = context
        self.assistantID = assistantID
        self.clientContext = clientContext
        self.idempotencyKey = idempotencyKey
    }
}

/// All that is kept of a session.
package struct SessionRecord: Sendable, Hashable {
    package var session: Session
    package var clientContext: String?
    package var summary: Summary?
    /// By time, and those of one time as they came.
    package var turns: [Turn]
}

/// A line in the list of a user's sessions.
package struct SessionListing: Sendable, Hashable {
    package var id: SessionID
    /// Nil until there is a summary.
    package var title: String?
    /// The first words of the summary.
    package var summarySnippet: String?
    package var startedAt: WallTime
    package var endedAt: WallTime?
}

package struct SessionPage: Sendable, Hashable {
    /// Newest first.
    package var sessions: [SessionListing]
    /// For what comes after; nil at the end.
    package var next: SessionCursor?
}

/// A place in the list of a user's sessions, which stays where it is while sessions come and go.
package struct SessionCursor: Sendable, Hashable {
    let startedAt: WallTime
    let id: SessionID
}
