package import Foundation
internal import Identity
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

/// A code that proves access to an account's e-mail address. It expires after `StoreLimits.codeLifetime`, is valid once, and is void after
/// `StoreLimits.codeFailuresMax` wrong attempts. The store keeps only its keyed hash.
package struct AccountCode: Sendable, Hashable {
    package enum Purpose: String, Sendable, CaseIterable, SQLValue {
        case passwordReset = "password_reset"
        case emailConfirmation = "email_confirmation"
    }

    package let purpose: Purpose
    package let text: Text
    package let expiresAt: WallTime

    init(_ purpose: Purpose, _ text: Text, at now: WallTime) {
        self.purpose = purpose
        self.text = text
        expiresAt = now + StoreLimits.codeLifetime
    }

    /// Eight characters of Crockford's Base32, 40 random bits. Prints as `<code>`, so that it does not get into logs.
    package struct Text: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
        private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
        private static let count = 8

        /// Without the hyphen.
        let characters: String

        /// A random code.
        init() {
            characters = String(decoding: randomBytes(Self.count).map { Self.alphabet[Int($0 & 31)] }, as: UTF8.self)
        }

        /// A code as typed: upper or lower case, with or without hyphens and spaces, `O` for 0, and `I` or `L` for 1.
        package init(typed text: String) {
            characters = String(
                text.uppercased().compactMap { character -> Character? in
                    switch character {
                    case "-", " ": nil
                    case "O": "0"
                    case "I", "L": "1"
                    default: character
                    }
                })
        }

        /// `8F2K-93QM`.
        package var revealed: String { characters.prefix(4) + "-" + characters.dropFirst(4) }

        package var description: String { "<code>" }
        package var debugDescription: String { "<code>" }
    }
}

/// Makes the webhooks that deliver a code to its user.
package typealias AccountCodeWebhooks = @Sendable (User, AccountCode) -> [OutgoingWebhook]

/// The outcome of a request for a code by a user who is logged in.
package enum CodeRequestOutcome: Sendable, Hashable {
    case sent
    /// The previous code was sent less than `StoreLimits.codeInterval` ago.
    case tooSoon
    /// The address is confirmed already, or the user has no password.
    case notNeeded
}

/// The outcome of `Accounts.changePassword(of:from:to:at:)`.
package enum PasswordChangeOutcome: Sendable, Hashable {
    case changed
    case wrongPassword
    /// The user comes from an external issuer.
    case noPassword
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
