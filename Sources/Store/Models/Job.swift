/// A unit of work that is done at least once, across restarts.
package struct Job: Sendable, Hashable {
    package let id: Int64
    package let kind: JobKind
    /// An identifier, never user text.
    package let subject: String
    package let userID: UserID?
    package let sessionID: SessionID?
    /// Attempts, including this one; identifies the lease.
    package let attempts: Int
}

package struct JobKind: Sendable, Hashable, RawRepresentable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Summarize the session that is the subject.
    package static let summary = JobKind(rawValue: "summary")
}
