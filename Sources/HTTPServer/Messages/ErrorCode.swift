package import HTTPTypes
internal import Identity

/// A code of an error response or of a refused upgrade, declared once: for responses, `/metrics` and docs/protocol/errors.md.
package enum ErrorCode: String, CaseIterable, Sendable {
    case assistantNotFound = "assistant_not_found"
    case badIdentity = "bad_identity"
    case badRequest = "bad_request"
    case badRoom = "bad_room"
    case badSignature = "bad_signature"
    case badUpgrade = "bad_upgrade"
    case bodyTooLarge = "body_too_large"
    case bodyTooSlow = "body_too_slow"
    case callEnded = "call_ended"
    case clipNotPlayed = "clip_not_played"
    case clipNotReady = "clip_not_ready"
    case conflict = "conflict"
    case draining = "draining"
    case emailTaken = "email_taken"
    case emailUnconfirmed = "email_unconfirmed"
    case exportRunning = "export_running"
    case handleTaken = "handle_taken"
    case homeUnavailable = "home_unavailable"
    case hostMissing = "host_missing"
    case idempotencyKeyReused = "idempotency_key_reused"
    case internalError = "internal_error"
    case invalidArgument = "invalid_argument"
    case invalidArguments = "invalid_arguments"
    case invalidAssistant = "invalid_assistant"
    case invalidBody = "invalid_body"
    case invalidCode = "invalid_code"
    case invalidCredentials = "invalid_credentials"
    case invalidCursor = "invalid_cursor"
    case invalidIdempotencyKey = "invalid_idempotency_key"
    case invalidPath = "invalid_path"
    case invalidQuery = "invalid_query"
    case invalidRefreshToken = "invalid_refresh_token"
    case invalidValue = "invalid_value"
    case jobEnded = "job_ended"
    case lengthRequired = "length_required"
    case limitExceeded = "limit_exceeded"
    case loopbackOnly = "loopback_only"
    case malformedToken = "malformed_token"
    case metadataTooLarge = "metadata_too_large"
    case methodNotAllowed = "method_not_allowed"
    case missingExpiry = "missing_expiry"
    case missingGrant = "missing_grant"
    case missingToken = "missing_token"
    case noPassword = "no_password"
    case noSigningKey = "no_signing_key"
    case noWebhooks = "no_webhooks"
    case nodeNotFound = "node_not_found"
    case notAllowed = "not_allowed"
    case notFound = "not_found"
    case originNotAllowed = "origin_not_allowed"
    case participantNotFound = "participant_not_found"
    case refreshTokenReused = "refresh_token_reused"
    case roomFull = "room_full"
    case roomNotFound = "room_not_found"
    case sessionEnded = "session_ended"
    case speechBusy = "speech_busy"
    case speechUnavailable = "speech_unavailable"
    case storeBusy = "store_busy"
    case storeFailed = "store_failed"
    case storeFull = "store_full"
    case subprotocolRequired = "subprotocol_required"
    case tlsRequired = "tls_required"
    case tokenExpired = "token_expired"
    case tokenNotYetValid = "token_not_yet_valid"
    case tokenRevoked = "token_revoked"
    case tokenTooLarge = "token_too_large"
    case tooManyAttempts = "too_many_attempts"
    case tooManyClips = "too_many_clips"
    case tooManyCodes = "too_many_codes"
    case tooManyEvents = "too_many_events"
    case tooManyExports = "too_many_exports"
    case tooManyInvitations = "too_many_invitations"
    case tooManyRegistrations = "too_many_registrations"
    case tooManyRequests = "too_many_requests"
    case tooManySessions = "too_many_sessions"
    case tooManyToolCalls = "too_many_tool_calls"
    case toolFailed = "tool_failed"
    case toolNotFound = "tool_not_found"
    case toolTimeout = "tool_timeout"
    case trackNotFound = "track_not_found"
    case unknownIssuer = "unknown_issuer"
    case unknownMethod = "unknown_method"
    case unknownProvider = "unknown_provider"
    case unknownUser = "unknown_user"
    case unsupported = "unsupported"
    case unsupportedMediaType = "unsupported_media_type"
    case untrustedProxy = "untrusted_proxy"
    case upgradeRefused = "upgrade_refused"
    case upgradeRequired = "upgrade_required"
    case websocketVersion = "websocket_version"
    case wrongAlgorithm = "wrong_algorithm"
    case wrongAudience = "wrong_audience"
    case wrongPassword = "wrong_password"

    /// The entry of a code in the reference.
    package struct Description: Sendable {
        /// The first is the usual one.
        package let statuses: [Int]
        /// A phrase for the reference.
        package let meaning: String
        /// Whether the same request may succeed later; in brackets the seconds in Retry-After, if it is sent.
        package let retry: String

        fileprivate init(_ statuses: Int..., meaning: String, retry: String = "no") {
            (self.statuses, self.meaning, self.retry) = (statuses, meaning, retry)
        }
    }

    /// The usual status.
    package var status: HTTPResponse.Status {
        let code = description.statuses[0]
        return code == HTTPResponse.Status.insufficientStorage.code ? .insufficientStorage : .init(code: code)
    }

    package var description: Description {
        switch self {
        case .assistantNotFound:
            .init(
                404,
                meaning: """
                    no assistant of this id is defined; when it is dispatched: and none has been connected since the gateway started
                    """)
        case .badIdentity:
            .init(
                401,
                meaning: """
                    the token's identity is empty where one is required, over 256 bytes, or not `assistant:<id>` where that is \
                    required
                    """)
        case .badRequest: .init(400, meaning: "an ambiguous or malformed request head")
        case .badRoom: .init(401, meaning: "the token's room name is over 256 bytes")
        case .badSignature: .init(401, meaning: "the token's signature is wrong")
        case .badUpgrade:
            .init(
                400,
                meaning: """
                    an upgrade that is not a GET of HTTP/1.1 with `Connection: Upgrade`, a `Sec-WebSocket-Key` of 16 bytes in \
                    base64, and no body (RFC 6455 section 4.2.1)
                    """)
        case .bodyTooLarge: .init(413, meaning: "a body over 1 MiB")
        case .bodyTooSlow: .init(408, meaning: "the body took more than 30 s", retry: "yes")
        case .callEnded: .init(403, meaning: "the room belongs to a call that has ended, or that this identity is not a member of")
        case .clipNotPlayed: .init(409, meaning: "the room did not admit the clip's participant")
        case .clipNotReady: .init(409, meaning: "the clip has no audio yet", retry: "yes")
        case .conflict: .init(409, meaning: "calls: another party was faster")
        case .draining: .init(503, meaning: "the gateway is shutting down; use another one", retry: "yes")
        case .emailTaken: .init(409, meaning: "the e-mail address has an account")
        case .emailUnconfirmed: .init(403, meaning: "the configuration requires that the address is confirmed first")
        case .exportRunning: .init(429, meaning: "an export of this account is running", retry: "yes (5)")
        case .handleTaken: .init(409, meaning: "another user has this handle")
        case .homeUnavailable:
            .init(503, meaning: "in a cluster: the node of the room or recording, or one that a list needs, does not answer", retry: "yes")
        case .hostMissing: .init(400, meaning: "no `Host` header, from which `serve --dev` derives the URL")
        case .idempotencyKeyReused: .init(422, meaning: "the `Idempotency-Key` was used for a request with another body")
        case .internalError: .init(500, meaning: "internal failure; the gateway's log has the request's id")
        case .invalidArgument: .init(400, meaning: "calls, jobs and rooms: a value is out of range")
        case .invalidArguments: .init(400, meaning: "the arguments of a tool are not a JSON object or its text, or over 64 KiB")
        case .invalidAssistant: .init(400, meaning: "the definition is invalid; the message names the field")
        case .invalidBody: .init(400, meaning: "not the JSON object that the route requires")
        case .invalidCode:
            .init(
                401, 403,
                meaning: """
                    the code is wrong, expired, used, or void after five wrong ones; 401 at a reset, 403 at a confirmation
                    """)
        case .invalidCredentials: .init(401, meaning: "no account has this e-mail address and password")
        case .invalidCursor: .init(400, meaning: "the cursor is invalid; start without one")
        case .invalidIdempotencyKey: .init(400, meaning: "an `Idempotency-Key` that does not have 1 to 255 bytes")
        case .invalidPath: .init(400, meaning: "an encoding in path or query that is not permitted, or a segment `.` or `..`")
        case .invalidQuery: .init(400, meaning: "an invalid query value")
        case .invalidRefreshToken: .init(401, meaning: "the refresh token is unknown or expired")
        case .invalidValue:
            .init(400, meaning: "a value that the body's schema cannot describe is invalid, or a limit of the account is reached")
        case .jobEnded: .init(403, meaning: "an agent's token whose job is over, or was given to another worker since")
        case .lengthRequired: .init(411, meaning: "a chunked body")
        case .limitExceeded: .init(429, meaning: "calls, jobs and rooms: too much, too many, or too often", retry: "yes (1)")
        case .loopbackOnly: .init(403, meaning: "a development token for a client that is not on the gateway's machine")
        case .malformedToken:
            .init(401, meaning: "not a JWT, ambiguous JSON, a claim of the wrong type, or an `Authorization` scheme other than `Bearer`")
        case .metadataTooLarge: .init(413, meaning: "metadata over 512 KiB")
        case .methodNotAllowed: .init(405, meaning: "the path exists, but not with this method; `Allow` lists the methods")
        case .missingExpiry: .init(401, meaning: "the token has no `exp`")
        case .missingGrant: .init(403, meaning: "a valid token without the grant that the request needs; the message says which")
        case .missingToken: .init(401, meaning: "no token, or an empty one")
        case .noPassword: .init(409, meaning: "the account belongs to another issuer and has no password")
        case .noSigningKey: .init(503, meaning: "the gateway has no HS256 key to sign with")
        case .noWebhooks: .init(503, meaning: "there is no webhook endpoint that could deliver a code")
        case .nodeNotFound: .init(404, meaning: "no node of this name runs; the message lists those that do")
        case .notAllowed: .init(403, meaning: "calls: the requester's role does not permit it")
        case .notFound: .init(404, meaning: "nothing at this path; or no such object, or not the requester's")
        case .originNotAllowed: .init(403, meaning: "a web page of an origin that may not connect")
        case .participantNotFound: .init(404, meaning: "no such participant in the room")
        case .refreshTokenReused: .init(401, meaning: "the refresh token was used before; all tokens of this login are revoked")
        case .roomFull:
            .init(
                409,
                meaning: """
                    `maxParticipants` reached; dependent participants and the same identity's earlier connection do not count
                    """, retry: "yes")
        case .roomNotFound:
            .init(
                404,
                meaning: """
                    no such room is open; on joining: and neither the configuration nor the token (`roomCreate`) permits creating it
                    """)
        case .sessionEnded:
            .init(
                403, 409,
                meaning: """
                    403 on joining: the room belongs to a session that has ended or never existed; 409: the session, or the one \
                    started with this `Idempotency-Key`, has ended
                    """)
        case .speechBusy: .init(503, meaning: "too many texts wait, or too many clips play", retry: "yes (5)")
        case .speechUnavailable: .init(503, meaning: "the gateway has no synthesizer, or cannot play clips")
        case .storeBusy: .init(503, meaning: "too many queued writes, or the store's database cannot be reached", retry: "yes (1 or 5)")
        case .storeFailed: .init(500, meaning: "the store failed; the gateway's log has the reason")
        case .storeFull: .init(507, meaning: "the store is full; nothing was written", retry: "yes (30)")
        case .subprotocolRequired: .init(400, meaning: "`patchbay.v1` was not offered")
        case .tlsRequired: .init(400, meaning: "the request arrived over plain HTTP")
        case .tokenExpired: .init(401, meaning: "by `exp`")
        case .tokenNotYetValid: .init(401, meaning: "by `nbf`", retry: "yes")
        case .tokenRevoked: .init(401, meaning: "the password was changed after the access token was issued")
        case .tokenTooLarge: .init(401, meaning: "a token over 16 KiB")
        case .tooManyAttempts:
            .init(
                429,
                meaning: """
                    too many failed attempts: from this address, for this account, or by this user
                    """, retry: "yes (60; 1 while attempts are in progress)")
        case .tooManyClips: .init(429, meaning: "the requester has 8 waiting texts", retry: "yes (5)")
        case .tooManyCodes: .init(429, meaning: "a code was sent within the last minute", retry: "yes (60)")
        case .tooManyEvents: .init(429, meaning: "the user adds texts to conversations too fast", retry: "yes (the wait)")
        case .tooManyExports: .init(503, meaning: "two exports are running", retry: "yes (5)")
        case .tooManyInvitations:
            .init(
                429,
                meaning: """
                    the user invites too fast; or the invited user has not answered 10 of its invitations
                    """, retry: "yes (the wait; 60)")
        case .tooManyRegistrations: .init(429, meaning: "too many registrations from this address", retry: "yes (the wait)")
        case .tooManyRequests: .init(503, meaning: "over the limits on concurrent requests", retry: "yes (1)")
        case .tooManySessions: .init(429, meaning: "the user has 1,000 sessions that have not ended")
        case .tooManyToolCalls: .init(429, meaning: "64 calls of the assistant's tools are in progress", retry: "yes")
        case .toolFailed:
            .init(
                502,
                meaning: """
                    the tool answered with another status than 2xx, too much or no UTF-8, or cannot be reached; `retry` in the body \
                    says whether to retry
                    """, retry: "see `retry`")
        case .toolNotFound: .init(404, meaning: "the assistant has no tool of this name")
        case .toolTimeout: .init(504, meaning: "the tool did not answer in time", retry: "yes")
        case .trackNotFound: .init(404, meaning: "no such track in the room")
        case .unknownIssuer: .init(401, meaning: "the gateway has no key for `iss`")
        case .unknownMethod: .init(501, meaning: "a method that HTTP APIs do not use")
        case .unknownProvider: .init(400, meaning: "no configured provider of speech clips has this name; the message lists them")
        case .unknownUser: .init(401, meaning: "the access token's user has been deleted")
        case .unsupported: .init(503, meaning: "jobs: during a drain; recordings: not configured", retry: "yes (1)")
        case .unsupportedMediaType: .init(415, meaning: "a body with a content type other than JSON")
        case .untrustedProxy: .init(403, meaning: "at `plain_port`, from an address that is not in `trusted_proxies`")
        case .upgradeRefused: .init(400, meaning: "an upgrade to something else than WebSocket")
        case .upgradeRequired: .init(426, meaning: "a WebSocket path without an upgrade")
        case .websocketVersion: .init(426, meaning: "`Sec-WebSocket-Version` is not 13; the response names 13")
        case .wrongAlgorithm: .init(401, meaning: "`alg` is not the algorithm configured for this issuer")
        case .wrongAudience: .init(401, meaning: "a user's token for another audience")
        case .wrongPassword: .init(403, meaning: "the current password is wrong")
        }
    }
}

extension ErrorCode {
    /// The code of a token that does not verify, which has the same name here.
    init(_ error: TokenError) {
        guard let code = ErrorCode(rawValue: error.code) else { preconditionFailure("\(error.code) is no code of responses") }
        self = code
    }

    /// Those of refused upgrades, which `patchbay_joins_refused_total` counts.
    package static let ofUpgrades: [ErrorCode] = [
        .untrustedProxy, .badRequest, .invalidPath, .upgradeRefused, .badUpgrade, .websocketVersion, .notFound, .originNotAllowed,
        .draining, .homeUnavailable,
        .subprotocolRequired, .missingToken, .tooManyAttempts, .tokenTooLarge, .malformedToken, .unknownIssuer, .wrongAlgorithm,
        .badSignature, .missingExpiry, .tokenExpired, .tokenNotYetValid, .wrongAudience, .badIdentity, .badRoom, .missingGrant,
        .sessionEnded, .callEnded, .jobEnded, .roomNotFound, .roomFull,
    ]
}

extension HTTPResponse.Status {
    /// RFC 4918 section 11.5.
    package static let insufficientStorage = Self(code: 507, reasonPhrase: "Insufficient Storage")
}
