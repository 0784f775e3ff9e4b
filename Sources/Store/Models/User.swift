/// A user account.
package struct User: Sendable, Hashable {
    package var id: UserID
    /// As given at registration; nil if an external issuer supplies none.
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

/// User preferences.
package struct UserSettings: Sendable, Hashable, Codable {
    /// Allowed values of `retentionDays`.
    package static let retentionDaysRange = 7...365

    /// Whether conversations are stored; false until the user consents.
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

/// A single-use token for a new access token.
package struct RefreshToken: Sendable {
    /// 64 characters of base64url. The store has only its hashes.
    package let text: String
    package let userID: UserID
    package let expiresAt: WallTime
}

package enum RefreshAnswer: Sendable {
    case renewed(RefreshToken)
    /// Unknown, expired, or of a family that was revoked.
    case unknown
    /// Used before, so it may be stolen: its family was revoked.
    case reused(UserID)
}
