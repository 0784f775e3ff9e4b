internal import Foundation
internal import HTTPServer
internal import Store
internal import Wire

/// An e-mail address and a password.
struct Credentials: Decodable, Sendable, Described {
    var email: String
    var password: String

    static let schema = Schema.named(
        "Credentials", .object([.required("email", .email), .required("password", .password)]))
}

/// A device's access and refresh token.
struct TokenPair: Encodable, Sendable, Described {
    var accessToken: String
    var refreshToken: String
    /// Lifetime of the access token, in seconds.
    var expiresIn: Int64
    var tokenType = "Bearer"

    static let fields: [Schema.Field] = [
        .required("access_token", .text(1...16_384)), .required("refresh_token", .text(1...256)),
        .required("expires_in", .integer(1...86_400)), .required("token_type", .choice(["Bearer"])),
    ]
    static let schema = Schema.named("TokenPair", .object(fields))
}

struct RefreshBody: Decodable, Sendable, Described {
    var refreshToken: String

    static let schema = Schema.named("RefreshToken", .object([.required("refresh_token", .text(1...256))]))
}

struct UserView: Encodable, Sendable, Described {
    var id: UserID
    var email: String?
    var emailConfirmed: Bool
    var settings: UserSettings
    var createdAt: WallTime

    init(_ user: User) {
        id = user.id
        email = user.email
        emailConfirmed = user.isEmailConfirmed
        settings = user.settings
        createdAt = user.createdAt
    }

    static let fields: [Schema.Field] = [
        .required("id", .uuid), .optional("email", .text(1...254)), .required("email_confirmed", .boolean),
        .required("settings", UserSettings.schema), .required("created_at", .time),
    ]
    static let schema = Schema.named("User", .object(fields))
}

/// A new user, already logged in.
struct RegisteredView: Encodable, Sendable, Described {
    var user: UserView
    var tokens: TokenPair

    func encode(to encoder: any Encoder) throws {
        try user.encode(to: encoder)
        try tokens.encode(to: encoder)
    }

    static let schema = Schema.named("RegisteredUser", .object(UserView.fields + TokenPair.fields))
}

extension UserSettings: Described {
    fileprivate static let fields: [Schema.Field] = [
        .required("logging_enabled", .boolean), .required("retention_days", .integer(7...365)), .optional("voice", .text(0...128)),
        .required("has_seen_onboarding", .boolean), .required("shares_past_summaries", .boolean),
        .required("pushes_summaries", .boolean),
        .optional("language", .text(0...LanguageTag.bytesMax)), .optional("time_zone", .text(0...TimeZone.ianaNameBytesMax)),
        .required("reachable_by", ReachableBy.schema), .optional("handle", .text(0...UserHandle.lengths.upperBound)),
    ]
    static let schema = Schema.named("UserSettings", .object(fields))
}

extension ReachableBy {
    static let schema = Schema.choice(allCases.map(\.rawValue))
}

/// Settings to change; omitted ones keep their value. An empty voice, language, time zone or handle removes it. A change of
/// `logging_enabled` counts as the user's answer about logging: it also sets `has_seen_onboarding`, unless the request contains that.
struct SettingsChange: Decodable, Sendable, Described {
    struct Settings: Decodable, Sendable {
        var loggingEnabled: Bool?
        var retentionDays: Int?
        var voice: String?
        var hasSeenOnboarding: Bool?
        var sharesPastSummaries: Bool?
        var pushesSummaries: Bool?
        var language: String?
        var timeZone: String?
        var reachableBy: ReachableBy?
        var handle: String?
    }

    var settings: Settings

    static let schema = Schema.named(
        "SettingsChange",
        .object([.required("settings", .object(UserSettings.fields.map { .optional($0.name, $0.schema) }))]))

    func apply(to settings: inout UserSettings) {
        let change = self.settings
        if let isLogged = change.loggingEnabled, isLogged != settings.loggingEnabled {
            settings.loggingEnabled = isLogged
            settings.hasSeenOnboarding = true
        }
        if let days = change.retentionDays { settings.retentionDays = days }
        func chosen(_ text: String) -> String? { text.isEmpty ? nil : text }
        if let voice = change.voice { settings.voice = chosen(voice) }
        if let language = change.language { settings.language = chosen(language) }
        if let timeZone = change.timeZone { settings.timeZone = chosen(timeZone) }
        if let reachableBy = change.reachableBy { settings.reachableBy = reachableBy }
        if let handle = change.handle { settings.handle = chosen(handle) }
        if let hasSeen = change.hasSeenOnboarding { settings.hasSeenOnboarding = hasSeen }
        if let shares = change.sharesPastSummaries { settings.sharesPastSummaries = shares }
        if let pushes = change.pushesSummaries { settings.pushesSummaries = pushes }
    }
}
