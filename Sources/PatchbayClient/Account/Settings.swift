public import Foundation
internal import NIOHTTP1

/// A user and its settings.
public struct AccountUser: Sendable, Hashable, Decodable, Identifiable {
    /// The user's id, which is also its identity in rooms.
    public var id: String
    public var email: String?
    public var emailConfirmed: Bool
    public var settings: Settings.Values
    public var createdAt: Date

    private enum CodingKeys: String, CodingKey { case id, email, emailConfirmed, settings, createdAt }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(String.self, forKey: .id)
        email = try fields.decodeIfPresent(String.self, forKey: .email)
        emailConfirmed = try fields.decode(Bool.self, forKey: .emailConfirmed)
        settings = try fields.decode(Settings.Values.self, forKey: .settings)
        createdAt = try fields.decodeTime(forKey: .createdAt)
    }
}

/// The settings of an account's user.
///
///     try await account.settings.change(Settings.Change(loggingEnabled: true, hasSeenOnboarding: true))
public struct Settings: Sendable {
    let account: Account

    /// Returns the current settings.
    ///
    /// - Throws: `AccountError`.
    public func current() async throws(AccountError) -> Values {
        try await account.user().settings
    }

    /// Changes settings and returns their new values.
    ///
    /// - Throws: `AccountError`; `invalid_body` or `invalid_value` for a value out of range, `handle_taken`.
    @discardableResult
    public func change(_ change: Change) async throws(AccountError) -> Values {
        try await account.send(.PATCH, "/v1/users/me", body: GatewayHTTP.body(ChangeBody(settings: change)), AccountUser.self).settings
    }

    /// Stores the user's answer on the consent screen: whether conversations are logged and summarized. Marks the screen as answered.
    @discardableResult
    public func answerConsent(_ isAllowed: Bool) async throws(AccountError) -> Values {
        try await change(Change(loggingEnabled: isAllowed, hasSeenOnboarding: true))
    }

    private struct ChangeBody: Encodable {
        var settings: Change
    }

    public struct Values: Sendable, Hashable, Codable {
        /// The permitted values of `retentionDays`.
        public static let retentionDaysRange = 7...365

        /// Whether sessions are logged and summarized: the user's consent; false until given.
        public var loggingEnabled: Bool
        /// The number of days after which a session is deleted.
        public var retentionDays: Int
        /// The voice of assistants; nil for the assistant's own.
        public var voice: String?
        /// Whether the user has answered the consent screen.
        public var hasSeenOnboarding: Bool
        /// Whether assistants receive summaries of earlier sessions.
        public var sharesPastSummaries: Bool
        /// Whether the user's phones are notified when a summary is ready.
        public var pushesSummaries: Bool
        /// The user's language as a BCP 47 tag; nil for the assistant's language.
        public var language: String?
        /// The user's time zone as a name of the IANA database, for exports.
        public var timeZone: String?
        /// The users who may call this user (docs/protocol/calls.md).
        public var reachableBy: String
        public var handle: String?
    }

    /// Settings to change; nil keeps a value. An empty voice, language, time zone or handle removes it.
    public struct Change: Sendable, Hashable, Encodable {
        public var loggingEnabled: Bool?
        public var retentionDays: Int?
        public var voice: String?
        public var hasSeenOnboarding: Bool?
        public var sharesPastSummaries: Bool?
        public var pushesSummaries: Bool?
        public var language: String?
        public var timeZone: String?
        public var reachableBy: String?
        public var handle: String?

        public init(
            loggingEnabled: Bool? = nil, retentionDays: Int? = nil, voice: String? = nil, hasSeenOnboarding: Bool? = nil,
            sharesPastSummaries: Bool? = nil, pushesSummaries: Bool? = nil, language: String? = nil, timeZone: String? = nil,
            reachableBy: String? = nil, handle: String? = nil
        ) {
            self.loggingEnabled = loggingEnabled
            self.retentionDays = retentionDays
            self.voice = voice
            self.hasSeenOnboarding = hasSeenOnboarding
            self.sharesPastSummaries = sharesPastSummaries
            self.pushesSummaries = pushesSummaries
            self.language = language
            self.timeZone = timeZone
            self.reachableBy = reachableBy
            self.handle = handle
        }
    }
}
