package import Foundation
internal import Wire

/// A user account.
package struct User: Sendable, Hashable {
    package var id: UserID
    /// As given at registration; nil if an external issuer supplies none.
    package var email: String?
    package var settings: UserSettings
    package var createdAt: WallTime
    /// Whether the user has confirmed the address. Always false for users of an external issuer.
    package var isEmailConfirmed = false
    /// Each change of the password starts the next generation. Tokens of earlier generations are revoked.
    package var tokenGeneration = 0
}

/// The state of a user that decides whether its tokens are accepted.
package struct UserStanding: Sendable, Hashable {
    /// As `User.tokenGeneration`.
    package var tokenGeneration: Int
    /// The user has a password, and an address that is not confirmed.
    package var isUnconfirmed: Bool
}

/// User preferences.
package struct UserSettings: Sendable, Hashable, Codable {
    /// Allowed values of `retentionDays`.
    package static let retentionDaysRange = 7...365

    /// Whether the user allows conversations to be stored. Has no effect before `hasSeenOnboarding`.
    package var loggingEnabled = false
    /// In days, within `retentionDaysRange`.
    package var retentionDays = 30
    /// The voice that an assistant speaks with; the assistant's own choice if nil.
    package var voice: String?
    /// Whether the user has been asked about logging and has answered.
    package var hasSeenOnboarding = false
    /// Whether summaries of earlier sessions are given to the assistant at the start of the next one.
    package var sharesPastSummaries = false
    /// Whether the user's devices are woken when a summary is ready.
    package var pushesSummaries = true
    /// The language that the user speaks, as a BCP 47 tag; the assistant's if nil.
    package var language: String?
    /// An IANA name, for times in exports; UTC if nil.
    package var timeZone: String?

    /// Which callers can reach the user, and by which addresses.
    package var reachableBy = ReachableBy.contacts
    /// A name by which others call the user, without the `@`; nil if it has chosen none.
    package var handle: String?

    package init() {}

    /// Whether conversations may be stored. Requires the user's answer.
    package var allowsLogging: Bool { hasSeenOnboarding && loggingEnabled }

    /// - Throws: `refused`.
    func check() throws(StoreError) {
        guard Self.retentionDaysRange ~= retentionDays else { throw .refused("Conversations are kept for 7 to 365 days.") }
        if let language, !LanguageTag.isValid(language) {
            throw .refused(LanguageTag.requirement)
        }
        if let timeZone, TimeZone(iana: timeZone) == nil {
            throw .refused("`time_zone` must be a name of the IANA time zone database, such as Europe/Zurich.")
        }
        if let handle, !UserHandle.isValid(handle) {
            throw .refused("`handle` must have 3 to 32 letters, digits or `.`, `_`, `-`, and begin with a letter or digit.")
        }
    }
}

extension LanguageTag {
    static let requirement = "`language` must be a BCP 47 tag, such as en or de-AT."
}

extension TimeZone {
    /// The longest name of the database has 32 bytes.
    package static let ianaNameBytesMax = 64

    /// A time zone by its name in the IANA database: `Area/Location`, or `UTC`. Nil if there is none: other forms that Foundation accepts,
    /// such as abbreviations and offsets, are refused.
    package init?(iana name: String) {
        let isName = name.wholeMatch(of: /[A-Za-z]+(\/[A-Za-z0-9_+-]+)+/) != nil && name.utf8.count <= Self.ianaNameBytesMax
        guard name == "UTC" || isName else { return nil }
        self.init(identifier: name)
    }
}

/// A single-use token for a new access token.
package struct RefreshToken: Sendable {
    /// 64 characters of base64url. The store has only its hashes.
    package let text: String
    package let userID: UserID
    package let expiresAt: WallTime
    /// The user's, read in the same transaction.
    package let tokenGeneration: Int
}

package enum RefreshAnswer: Sendable {
    case renewed(RefreshToken)
    /// Unknown, expired, or of a family that was revoked.
    case unknown
    /// Used before, so it may be stolen: its family was revoked.
    case reused(UserID)
}
