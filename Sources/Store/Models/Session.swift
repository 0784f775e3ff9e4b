/// One conversation of one user with an assistant.
package struct Session: Sendable, Hashable {
    package var id: SessionID
    package var userID: UserID
    /// Where the user talks: `carplay`, `phone`, `web`, ….
    package var context: String
    package var assistantID: String?
    package var startedAt: WallTime
    /// Nil while it goes on.
    package var endedAt: WallTime?
    /// What the user's `loggingEnabled` was at the start. It decides for the whole session.
    package var loggingEnabledSnapshot: Bool
    package var summaryStatus: SummaryStatus

    package init(
        id: SessionID, userID: UserID, context: String, assistantID: String? = nil, startedAt: WallTime, endedAt: WallTime? = nil,
        loggingEnabledSnapshot: Bool, summaryStatus: SummaryStatus = .pending
    ) {
        self.id = id
        self.userID = userID
        self.context = context
        self.assistantID = assistantID
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.loggingEnabledSnapshot = loggingEnabledSnapshot
        self.summaryStatus = summaryStatus
    }

    package var roomName: String { Self.roomPrefix + id.text }

    /// Rooms of sessions begin so.
    package static let roomPrefix = "session-"

    /// Whose screen shows no text of a conversation while it goes on: a car's (Apple's rule for CarPlay).
    package var isWithoutText: Bool { context == "carplay" }
}

package enum SummaryStatus: String, Sendable, Codable {
    case pending, ready, failed
}
