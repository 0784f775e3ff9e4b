/// What there is to tell an assistant in a session.
package struct SessionBackground: Sendable, Hashable {
    /// Nil for a session that is not logged, too: of it nothing was kept.
    package var clientContext: String?
    /// Earlier sessions, newest first; empty unless the user shares them.
    package var past: [PastSession]

    package init(clientContext: String? = nil, past: [PastSession] = []) {
        self.clientContext = clientContext
        self.past = past
    }
}

/// A session that is over, as it was summed up.
package struct PastSession: Sendable, Hashable {
    package var id: SessionID
    package var title: String
    package var summaryText: String
    package var endedAt: WallTime
}
