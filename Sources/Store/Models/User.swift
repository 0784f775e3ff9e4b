/// Somebody with an account.
package struct User: Sendable, Hashable {
    package var id: UserID
    /// As it was given at registration; nil for a user of an outside issuer that tells none.
    package var email: String?
    package var settings: UserSettings
    package var createdAt: WallTime

    package init(id: UserID, email: String?, settings: UserSettings, createdAt: WallTime) {
        self.id = id
        self.email = email
        self.settings = settings
        self.createdAt = createdAt
    }
}

/// What a user decides.
package struct UserSettings: Sendable, Hashable, Codable {
    /// How long a conversation may be kept, in days.
    package static let retentionDaysRange = 7...365

    /// Whether conversations are kept at all: false until the user agrees.
    package var loggingEnabled = false
    /// In days, within `retentionDaysRange`.
    package var retentionDays = 30
    /// The voice that an assistant speaks with; the assistant's own choice if nil.
    package var voice: String?
    package var hasSeenOnboarding = false
    /// Whether summaries of earlier sessions are given to the assistant at the start of the next one.
    package var sharesPastSummaries = false

    package init() {}
}
