import Identity
import Testing
import Wire

/// An upgrade request that must be refused, and the expected response.
struct BadHandshake: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let status: Int
    let code: String
    let counter: Counter
    let ask: HTTPAsk

    init(_ story: String, _ status: Int, _ code: String, _ ask: HTTPAsk, counter: Counter? = nil) {
        testDescription = story
        self.status = status
        self.code = code
        self.counter = counter ?? .joinRefused(code)
        self.ask = ask
    }

    init(_ story: String, _ status: Int, _ code: String, token: String) {
        self.init(story, status, code, .upgrade(token: token))
    }

    /// An ordinary HTTP request.
    init(_ story: String, _ status: Int, _ code: String, http ask: HTTPAsk) {
        self.init(story, status, code, ask, counter: .httpRefused(code))
    }
}

extension BadHandshake {
    private static var good: String { TestToken.joining("table", as: "eve") }

    static let ofToken: [BadHandshake] = [
        BadHandshake(
            "signed with another secret", 401, "bad_signature", token: TestToken.forged(payload: TestToken.payload(), secret: "guess")),
        BadHandshake("algorithm none, with some signature", 401, "wrong_algorithm", token: TestToken.unsigned(TestToken.payload())),
        BadHandshake("algorithm NONE", 401, "wrong_algorithm", token: TestToken.unsigned(TestToken.payload(), algorithm: "NONE")),
        BadHandshake(
            "HS256 with the public key of an RS256 issuer", 401, "wrong_algorithm",
            token: TestToken.forged(payload: TestToken.payload(issuer: TestToken.issuerWithPublicKey), secret: TestToken.rsa.publicPEM)),
        BadHandshake(
            "RS256 in the header, HMAC with the public key below", 401, "bad_signature",
            token: TestToken.forged(
                header: #"{"alg":"RS256"}"#, payload: TestToken.payload(issuer: TestToken.issuerWithPublicKey),
                secret: TestToken.rsa.publicPEM)),
        BadHandshake(
            "expired", 401, "token_expired",
            token: TestToken.joining("table", as: "eve") {
                $0.notBefore = TestToken.now - 900
                $0.expires = TestToken.now - 600
            }),
        BadHandshake(
            "not yet valid", 401, "token_not_yet_valid", token: TestToken.joining("table", as: "eve") { $0.notBefore = TestToken.now + 3_600 }
        ),
        BadHandshake(
            "without an end", 401, "missing_expiry",
            token: TestToken.forged(payload: #"{"iss":"tests","sub":"eve","video":{"room":"table","roomJoin":true}}"#)),
        BadHandshake("of an unknown issuer", 401, "unknown_issuer", token: TestToken.forged(payload: TestToken.payload(issuer: "nobody"))),
        BadHandshake("not a token", 401, "malformed_token", token: "open sesame"),
        BadHandshake("a payload that is not base64", 401, "malformed_token", token: "eyJhbGciOiJIUzI1NiJ9.e30!.AAAA"),
        BadHandshake("a signature with padding", 401, "malformed_token", token: good + "="),
        BadHandshake("an empty signature", 401, "malformed_token", token: "eyJhbGciOiJIUzI1NiJ9.e30."),
        BadHandshake("algorithm none, without a signature", 401, "malformed_token", token: "eyJhbGciOiJub25lIn0.e30."),
        BadHandshake("two parts only", 401, "malformed_token", token: "a.b"),
        BadHandshake("payload that is no JSON", 401, "malformed_token", token: TestToken.forged(payload: "eve")),
        BadHandshake(
            "payload nested 2,000 deep", 401, "malformed_token",
            token: TestToken.forged(payload: String(repeating: "[", count: 2_000) + String(repeating: "]", count: 2_000))),
        BadHandshake("12 KB of it", 401, "malformed_token", token: String(repeating: "x", count: 12_000)),
        BadHandshake(
            "an identity of 257 bytes", 401, "bad_identity",
            token: TestToken.forged(payload: TestToken.payload(identity: String(repeating: "e", count: 257)))),
        BadHandshake("no identity", 401, "bad_identity", token: TestToken.forged(payload: TestToken.payload(identity: ""))),
        BadHandshake(
            "a room of 257 bytes", 401, "bad_room",
            token: TestToken.forged(payload: TestToken.payload(room: String(repeating: "r", count: 257)))),
        BadHandshake("without roomJoin", 403, "missing_grant", token: TestToken.joining("table", as: "eve") { $0.video?.roomJoin = false }),
        BadHandshake("without a video grant", 403, "missing_grant", token: TestToken.joining("table", as: "eve") { $0.video = nil }),
        BadHandshake("without a room", 403, "missing_grant", token: TestToken.forged(payload: TestToken.payload(room: ""))),
    ]

    static let ofPlace: [BadHandshake] = [
        BadHandshake("no token", 401, "missing_token", .upgrade()),
        BadHandshake("another scheme", 401, "malformed_token", .upgrade(with: [("Authorization", "Basic ZXZlOmV2ZQ==")])),
        BadHandshake("a scheme without a token", 401, "malformed_token", .upgrade(with: [("Authorization", "Bearer ")])),
        BadHandshake(
            "rubbish in the header, a good one in the query", 401, "malformed_token",
            .upgrade("/v1/rtc?access_token=\(good)", with: [("Authorization", "Bearer x")])),
        BadHandshake("rubbish in the query", 401, "malformed_token", .upgrade("/v1/rtc?access_token=x.y.z")),
        BadHandshake("an empty query", 401, "missing_token", .upgrade("/v1/rtc?access_token=")),
        BadHandshake("rubbish as subprotocol", 401, "malformed_token", .upgrade(subprotocol: "patchbay.v1, patchbay.bearer.x.y.z")),
        BadHandshake(
            "no subprotocol", 400, "subprotocol_required", .upgrade(subprotocol: nil, with: [("Authorization", "Bearer " + good)])),
        BadHandshake(
            "another subprotocol", 400, "subprotocol_required",
            .upgrade(subprotocol: "patchbay.v2", with: [("Authorization", "Bearer " + good)])),
        BadHandshake(
            "the bearer subprotocol alone", 400, "subprotocol_required", .upgrade(subprotocol: "patchbay.bearer." + good)),
        BadHandshake("another path", 404, "not_found", .upgrade(token: good, path: "/v2/rtc")),
        BadHandshake("the root", 404, "not_found", .upgrade(token: good, path: "/")),
        BadHandshake(
            "a path that goes up", 400, "invalid_path", .upgrade(token: good, path: "/v1/rtc/../../etc/passwd"),
            counter: .httpRefused("invalid_path")),
    ]

    static let ofHTTP: [BadHandshake] = [
        BadHandshake("GET without upgrade", 426, "upgrade_required", http: HTTPAsk(path: "/v1/rtc")),
        BadHandshake("nothing there", 404, "not_found", http: HTTPAsk(path: "/v1/nothing")),
        BadHandshake(
            "POST where only GET is", 405, "method_not_allowed",
            http: HTTPAsk(method: "POST", path: "/healthz", fields: [("Content-Length", "0")])),
        BadHandshake("DELETE of metrics", 405, "method_not_allowed", http: HTTPAsk(method: "DELETE", path: "/metrics")),
        BadHandshake(
            "a body in chunks", 411, "length_required",
            http: HTTPAsk(
                method: "POST", path: "/v1/rooms", fields: [("Transfer-Encoding", "chunked")], body: Array("3\r\nabc\r\n0\r\n\r\n".utf8))),
        BadHandshake(
            "a body that is announced too big", 413, "body_too_large",
            http: HTTPAsk(method: "POST", path: "/v1/rooms", fields: [("Content-Length", "1048577")])),
        BadHandshake(
            "a length that is no number", 400, "bad_request",
            http: HTTPAsk(method: "POST", path: "/v1/rooms", fields: [("Content-Length", "many")])),
        BadHandshake("rooms without a token", 401, "missing_token", http: HTTPAsk(path: "/v1/rooms")),
        BadHandshake(
            "rooms with a participant's token", 403, "missing_grant",
            http: HTTPAsk(path: "/v1/rooms", fields: [("Authorization", "Bearer " + good)])),
        BadHandshake(
            "a room that is not there", 404, "room_not_found",
            http: HTTPAsk(path: "/v1/rooms/nowhere", fields: [("Authorization", "Bearer " + adminOfNowhere)])),
        BadHandshake(
            "a body that is no JSON", 400, "invalid_body",
            http: HTTPAsk(
                method: "PATCH", path: "/v1/rooms/nowhere",
                fields: [("Authorization", "Bearer " + adminOfNowhere), ("Content-Length", "3")],
                body: Array("eve".utf8))),
        BadHandshake(
            "another room's administrator", 403, "missing_grant",
            http: HTTPAsk(path: "/v1/rooms/bystanders", fields: [("Authorization", "Bearer " + adminOfNowhere)])),
    ]

    private static var adminOfNowhere: String {
        TestToken.administering {
            $0.room = "nowhere"
            $0.roomAdmin = true
        }
    }
}
