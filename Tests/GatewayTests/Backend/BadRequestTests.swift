import Backend
import Foundation
import Gateway
import HTTPServer
import HTTPTypes
import Testing

/// Malicious and malformed requests that every route must refuse.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(3)))
struct BadRequestTests {
    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        backend = try TestBackend()
        ann = try AppUser(backend)
    }

    private static let mebibyte = 1 << 20

    /// Routes for users, each with a matching path. Those of administrators, assistants and participants have tests of their own.
    private func routes(_ isMeant: (Route) -> Bool) -> [(method: String, path: String)] {
        let others = ["/v1/rooms", "/v1/operations", "/v1/assistants", "/v1/rtc"]
        return backend.gateway.gateway.routes.filter { route in
            isMeant(route) && !others.contains { route.path.description.hasPrefix($0) }
        }.map { route in
            let pieces = route.path.inOpenAPI.split(separator: "/").map { $0.hasPrefix("{") ? UUID().uuidString.lowercased() : String($0) }
            return (route.method.rawValue, "/" + pieces.joined(separator: "/"))
        }
    }

    private func declares(_ route: Route, _ status: Int) -> Bool { route.outcomes.contains { $0.status.code == status } }

    private func answer(_ method: String, _ path: String, _ body: [UInt8], type: String = "application/json") throws -> HTTPAnswer? {
        let ask = HTTPAsk.json(method, path, body, with: [("Authorization", "Bearer " + ann.accessToken)], type: type)
        let answer = try ask.answer(port: backend.gateway.port)
        if let answer { try Contract.hold(answer, to: ask, backend.gateway.gateway.routes) }
        return answer
    }

    @Test func userRoutesRequireThatUsersToken() throws {
        let foreign = TestToken.joining("r", as: ann.id)
        let forged = TestToken.forged(payload: TestToken.payload(identity: ann.id, issuer: "patchbay-users"))
        // Without an upgrade, a WebSocket's path answers 426 to anyone.
        let routes = routes { declares($0, 401) && !declares($0, 426) }
        #expect(routes.count > 10)
        for (method, path) in routes where !path.hasPrefix("/v1/auth") {
            for token in ["", "rubbish", foreign, forged] {
                let answer = try AppUser(backend, token: token).ask(method, path, method == "GET" ? nil : [String: String]())
                // Room tokens are of the gateway's own issuer, which speech clips and turns accept from services and assistants.
                let acceptsServices = path.hasPrefix("/v1/speech") || path.hasSuffix("/turn")
                let status = token == foreign && acceptsServices ? 403 : 401
                #expect(answer.status == status, "\(method) \(path) with \"\(token.prefix(9))\": \(answer.status)")
            }
        }
    }

    /// Invalid for every route.
    @Test(arguments: [
        "", "no JSON", "[]", "\"text\"", "null", "42", "{", "{}", #"{"no_such_field":1}"#, #"{"email":"a@b.c","email":"d@e.f"}"#,
        #"{"email":NaN}"#, #"{"email":null,"password":null,"session_id":null,"context":null,"settings":null}"#,
        #"{"email":-99999999999999999999,"password":1e999}"#, #"{"session_id":{"a":[]},"context":{},"speaker":[]}"#,
        String(repeating: #"{"a":"#, count: 10_000) + "1" + String(repeating: "}", count: 10_000), String(repeating: "[", count: 100_000),
        #"{"\uD800":1}"#,
    ])
    func invalidBodyIsAnsweredWith400(body: String) throws {
        for (method, path) in routes({ declares($0, 415) }) {
            let answer = try answer(method, path, Array(body.utf8))
            // The body of a rejection is optional, so only the call is not found.
            let status = body == "{}" && path.hasSuffix("/reject") ? 404 : 400
            #expect(answer?.status == status, "\(method) \(path): \(answer?.text ?? "no answer")")
        }
    }

    @Test func invalidUTF8IsAnsweredWith400() throws {
        for (method, path) in routes({ declares($0, 415) }) {
            #expect(
                try answer(method, path, Array(#"{"email":""#.utf8) + [0xFF, 0xC0] + Array("\"}".utf8))?.status == 400, "\(method) \(path)")
        }
    }

    @Test func wrongContentTypeIs415AndOversizedBodyIs413() throws {
        for (method, path) in routes({ declares($0, 415) }) {
            #expect(try answer(method, path, Array("{}".utf8), type: "text/plain")?.status == 415, "\(method) \(path)")
            let long = [UInt8](repeating: UInt8(ascii: " "), count: Self.mebibyte + 1)
            #expect(try answer(method, path, long)?.status == 413, "\(method) \(path)")
        }
    }

    @Test(arguments: [
        "'; DROP TABLE users; --", "\" OR \"\"=\"", "%00", "..%2F..%2Fetc%2Fpasswd", "../../master.key", "%27%20OR%201%3D1", "%F0%9F%92%A3",
        "%FF", "-1", "99999999999999999999",
    ])
    func maliciousPathIsNotFound(trick: String) throws {
        let piece = trick.replacing(" ", with: "%20").replacing("\"", with: "%22")
        for (method, path) in [("GET", ""), ("DELETE", ""), ("GET", "/export")] {
            let answer = try ann.ask(method, "/v1/sessions/\(piece)\(path)")
            #expect([400, 404, 405].contains(answer.status), "\(method) \(piece): \(answer.status)")
        }
        #expect(try ann.ask("GET", "/v1/users/me").status == 200)
    }

    /// libwebsockets answers these itself or closes the connection.
    @Test(arguments: ["/v1/sessions/%", "/v1/sessions/%zz", "/v1/sessions?cursor=%00"])
    func invalidURLReachesNoRoute(path: String) throws {
        let answer = try HTTPAsk(path: path, fields: [("Authorization", "Bearer " + ann.accessToken)]).answer(port: backend.gateway.port)
        #expect(answer == nil || 400..<500 ~= answer?.status ?? 0, "\(answer?.text ?? "")")
        #expect(try ann.ask("GET", "/v1/users/me").status == 200)
    }

    /// libwebsockets treats an encoded line break as the end of the request line, which would truncate the path.
    @Test(arguments: [
        "%0A/export", "%0D/export", "%0D%0A/export", "x%0Ax/export", "%0Ahttp/1.1", "%0aHTTP/1.1", "%0D%0Ahttp/1.1", "?a=b%0Ahttp/1.1",
        "?a=b&c%0Ahttp/1.1", "%0Ahttp/1.0", "%0Ahttp/1.1%0Ahttp/1.1", "%0A%0Ahttp/1.1", "%0Ahttp/1.1%20HTTP/1.1",
    ])
    func encodedLineBreakInAPathReachesNoOtherRoute(rest: String) throws {
        let session = try ann.start().session
        let answer = try ann.ask("DELETE", "/v1/sessions/\(session)\(rest)")
        #expect(answer.status == 400 && answer.text.contains("invalid_path"), "\(answer.text)")
        #expect(try ann.ask("GET", "/v1/sessions/\(session)").status == 200)
    }

    /// libwebsockets stores the HTTP version like a header.
    @Test func versionAsAFieldNameIsRefused() throws {
        let session = try ann.start().session
        let connection = try HTTPConnection(backend.gateway)
        let head = "DELETE /v1/sessions/\(session)%0Ax HTTP/1.1\r\nhttp/1.1 HTTP/1.1\r\nHost: h\r\n"
        try connection.socket.write(Array("\(head)Authorization: Bearer \(ann.accessToken)\r\n\r\n".utf8))
        #expect(try connection.next()?.status == 400)
        #expect(try ann.ask("GET", "/v1/sessions/\(session)").status == 200)
    }

    @Test(arguments: ["'; DELETE FROM sessions; --", "\u{0}", "../../../x", "\u{202E}cba", "💣", "%s%n", "<script>"])
    func maliciousTextIsStoredVerbatim(trick: String) throws {
        let session = try ann.start(clientContext: trick).session
        try ann.say(trick, in: session)
        #expect(try ann.words(of: session) == [trick])
        #expect(try ann.start(key: "k\(trick.utf8.count)").session != session)
    }

    @Test(arguments: [
        "9999-12-31T23:59:59.999Z", "10000-01-01T00:00:00Z", "+10000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21", "yesterday", "9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "0000-01-01T00:00:00Z",
    ])
    func invalidTimeIsRefused(time: String) throws {
        let session = try ann.start().session
        let answer = try ann.say("hi", in: session, at: time)
        #expect(answer.status == (time == "9999-12-31T23:59:59.999Z" ? 200 : 400), "\(answer.text)")
    }

    @Test(arguments: [
        "limit=0", "limit=201", "limit=-1", "limit=1e3", "limit=5.0", "limit=%205", "limit=x", "limit=99999999999999999999", "cursor=x",
        "cursor=",
    ])
    func invalidQueryIsAnsweredWith400(query: String) throws {
        #expect(try ann.ask("GET", "/v1/sessions?" + query).status == 400)
    }
}
