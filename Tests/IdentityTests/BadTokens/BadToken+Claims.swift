/// Tokens that are rightly signed and claim what can't be.
extension BadToken {
    static let ofBadTime: [BadToken] = [
        BadToken("expired 61 s ago", "token_expired", payload: Payload().with("exp", "\(Issuers.now - 61)")),
        BadToken("expired in 1970", "token_expired", payload: Payload().with("exp", "0")),
        BadToken("expires before 1970", "token_expired", payload: Payload().with("exp", "-1")),
        BadToken("valid in 61 s", "token_not_yet_valid", payload: Payload().with("nbf", "\(Issuers.now + 61)")),
        BadToken("valid in the far future", "token_not_yet_valid", payload: Payload().with("nbf", "9007199254740991")),
        BadToken("no exp", "missing_expiry", payload: Payload().without("exp")),
        BadToken("exp null", "missing_expiry", payload: Payload().with("exp", "null")),
        BadToken("exp as text", "malformed_token", payload: Payload().with("exp", "\"\(Issuers.now + 60)\"")),
        BadToken("exp with a fraction", "malformed_token", payload: Payload().with("exp", "\(Issuers.now + 60).5")),
        BadToken("exp true", "malformed_token", payload: Payload().with("exp", "true")),
        BadToken("exp in a list", "malformed_token", payload: Payload().with("exp", "[\(Issuers.now + 60)]")),
        BadToken("exp beyond doubles", "malformed_token", payload: Payload().with("exp", "1e999")),
        BadToken("exp beyond integers", "malformed_token", payload: Payload().with("exp", "1e300")),
        BadToken("exp beyond 64 bits", "malformed_token", payload: Payload().with("exp", "99999999999999999999")),
        BadToken("exp the largest of 64 bits", "malformed_token", payload: Payload().with("exp", "9223372036854775807")),
        BadToken("exp the smallest of 64 bits", "malformed_token", payload: Payload().with("exp", "-9223372036854775808")),
        BadToken("exp NaN", "malformed_token", payload: Payload().with("exp", "NaN")),
        BadToken("exp twice", "malformed_token", payload: Payload().adding("exp", "\(Issuers.now + 60)")),
        BadToken("nbf as text", "malformed_token", payload: Payload().with("nbf", "\"0\"")),
        BadToken("nbf the largest of 64 bits", "malformed_token", payload: Payload().with("nbf", "9223372036854775807")),
    ]

    static let ofBadNames: [BadToken] = {
        let session = Payload().with("session_id", "\"s1\"")
        let service = #"{"roomAdmin":true,"room":"den"}"#
        func video(_ json: String) -> Payload { Payload().with("video", json) }
        func room(_ json: String) -> Payload { Payload().with("roomConfig", json) }
        return [
            BadToken("sub a number", "malformed_token", payload: Payload().with("sub", "7")),
            BadToken("no sub", "bad_identity", payload: Payload().without("sub")),
            BadToken("sub empty", "bad_identity", payload: Payload().with("sub", "\"\"")),
            BadToken("sub empty, without any grant", "bad_identity", payload: Payload().with("sub", "\"\"").without("video")),
            BadToken("sub empty, for a session", "bad_identity", payload: session.with("sub", "\"\"").with("video", service)),
            BadToken("sub of 257 bytes", "bad_identity", payload: Payload().with("sub", long(257))),
            BadToken("sub of 129 letters, 258 bytes", "bad_identity", payload: Payload().with("sub", long(129, of: "é"))),
            BadToken("jti of 257 bytes for sub", "bad_identity", payload: Payload().with("sub", "\"\"").with("jti", long(257))),
            BadToken("jti a number", "malformed_token", payload: Payload().with("jti", "7")),
            BadToken("NUL in sub", "malformed_token", payload: Payload().with("sub", #""ana\u0000root""#)),
            BadToken("NUL in the room", "malformed_token", payload: video(#"{"roomJoin":true,"room":"den\u0000"}"#)),
            BadToken("NUL in an attribute's name", "malformed_token", payload: Payload().with("attributes", #"{"a\u0000":"b"}"#)),
            BadToken("half a surrogate pair", "malformed_token", payload: Payload().with("sub", #""\ud83d""#)),
            BadToken("room of 257 bytes", "bad_room", payload: video(#"{"roomJoin":true,"room":\#(long(257))}"#)),
            BadToken("destination of 257 bytes", "bad_room", payload: video(#"{"destinationRoom":\#(long(257))}"#)),
            BadToken("room a number", "malformed_token", payload: video(#"{"roomJoin":true,"room":5}"#)),
            BadToken("room twice", "malformed_token", payload: video(#"{"roomJoin":true,"room":"a","room":"b"}"#)),
            BadToken("roomJoin as text", "malformed_token", payload: video(#"{"roomJoin":"true","room":"den"}"#)),
            BadToken("roomJoin a number", "malformed_token", payload: video(#"{"roomJoin":1,"room":"den"}"#)),
            BadToken("canPublish as text", "malformed_token", payload: video(#"{"canPublish":"no"}"#)),
            BadToken("one source, not a list", "malformed_token", payload: video(#"{"canPublishSources":"microphone"}"#)),
            BadToken("video as text", "malformed_token", payload: video("\"den\"")),
            BadToken("name a number", "malformed_token", payload: Payload().with("name", "1")),
            BadToken("metadata an object", "malformed_token", payload: Payload().with("metadata", "{}")),
            BadToken("attributes a list", "malformed_token", payload: Payload().with("attributes", "[]")),
            BadToken("an attribute that is a number", "malformed_token", payload: Payload().with("attributes", #"{"a":1}"#)),
            BadToken("kind a number", "malformed_token", payload: Payload().with("kind", "4")),
            BadToken("session a number", "malformed_token", payload: Payload().with("session_id", "1")),
            BadToken("fewer than no participants", "malformed_token", payload: room(#"{"maxParticipants":-1}"#)),
            BadToken("more participants than 32 bits", "malformed_token", payload: room(#"{"max_participants":4294967296}"#)),
        ]
    }()
}
