/// Work that must be done at least once, whatever happens to the process.
package struct Job: Sendable, Hashable {
    package let id: Int64
    package let kind: JobKind
    /// What it is about: an identifier, never words of a user.
    package let subject: String
    package let userID: UserID?
    package let sessionID: SessionID?
    /// How often it was begun, this time included. It also tells a lease from the next one.
    package let attempts: Int
}

/// What is to be done.
package struct JobKind: Sendable, Hashable, RawRepresentable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Make the summary of the session that is the subject.
    package static let summary = JobKind(rawValue: "summary")
}
