internal import Wire

/// A code that proves access to an account's e-mail address. It expires after `StoreLimits.codeLifetime`, is valid once, and is void after
/// `StoreLimits.codeFailuresMax` wrong attempts. The store keeps only its keyed hash.
package struct AccountCode: Sendable, Hashable {
    package enum Purpose: String, Sendable, CaseIterable {
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

/// The outcome of `SessionStore.changePassword(of:from:to:at:)`.
package enum PasswordChangeOutcome: Sendable, Hashable {
    case changed
    case wrongPassword
    /// The user comes from an external issuer.
    case noPassword
}
