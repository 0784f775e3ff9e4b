import Foundation
import PatchbayClient
import Testing
import Wire

/// The log of a whole gateway: what it says, and what it must never say.
@Suite(.timeLimit(.minutes(2)))
struct LogTests {
    private static let secrets = (
        key: "a-key-secret-that-no-log-may-show-0123", webhook: "secret-in-the-url-of-an-endpoint"
    )
    private static let words = (said: "Rhabarberkuchen", written: "Quittengelee", posted: "Stachelbeertorte", answered: "Mirabellenmus")
    private static var times: Regex<Substring> { /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/ }

    private func json(_ body: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any], "\(String(decoding: body, as: UTF8.self))")
    }

    private func post(_ path: String, _ body: [String: Any], _ gateway: ServedGateway, token: String = "none") async throws -> [String: Any]
    {
        let client = try GatewayAdministrator(url: gateway.url, token: token, trust: ServedGateway.options.trust)
        return try json(try await client.post(path, body: Array(try JSONSerialization.data(withJSONObject: body))).body)
    }

    /// At the level `trace`, because levels below `info` may not reveal more.
    @Test func aConversationIsLoggedWithoutTokensSecretsOrWords() async throws {
        let folder = try await StoreFolder()
        let log = URL(filePath: folder.file("gateway.log"))
        let configuration = """
            log_format: json
            log_level: trace
            keys: {my-app: \(Self.secrets.key)}
            webhook: {urls: ["http://127.0.0.1:1/hooks?key=\(Self.secrets.webhook)"]}
            """
        try configuration.write(toFile: folder.file("patchbay.yaml"), atomically: true, encoding: .utf8)
        let gateway = try await ServedGateway(["--config", folder.file("patchbay.yaml"), "--data", folder.path], log: log)

        let login = try await post("/v1/auth/token", ["email": "ann@example.org", "password": StoreFolder.password], gateway)
        let access = try #require(login["access_token"] as? String, "\(login)")
        let session = try await post("/v1/sessions/start", ["context": "phone"], gateway, token: access)
        let id = try #require(session["session_id"] as? String)
        let room = try #require(session["room_name"] as? String)
        let token = try #require(session["livekit_token"] as? String)
        let ann = try await RoomConnection.connect(url: gateway.url, token: token, options: ServedGateway.options)
        let bob = try await gateway.join(room, as: "bob")
        try await ann.sendSegment(TranscriptSegment(id: "s1", role: .user, text: Self.words.said, final: true))
        _ = try await ann.sendText(Self.words.written)
        try await bob.sendSegment(TranscriptSegment(id: "s2", role: .user, text: Self.words.answered, final: true))
        let turn = ["speaker": "user", "text": Self.words.posted, "timestamp": "2026-11-21T13:16:56Z"]
        _ = try await post("/v1/sessions/\(id)/turn", turn, gateway, token: access)
        // Refused: with a wrong secret, with a wrong password, and with a room token instead of a user's.
        let forged = String(token.dropLast(6)) + "AAAAAA"
        await #expect(throws: ConnectError.self) {
            try await RoomConnection.connect(url: gateway.url, token: forged, options: ServedGateway.options)
        }
        _ = try await post("/v1/auth/token", ["email": "ann@example.org", "password": "wrong-" + StoreFolder.password], gateway)
        _ = try await post("/v1/sessions/start", ["context": "phone"], gateway, token: token)
        _ = try await post("/v1/sessions/end", ["session_id": id], gateway, token: access)
        await bob.leave()
        try await eventually("a failed webhook in the log") { try String(contentsOf: log, encoding: .utf8).contains("webhook failed") }
        gateway.signal(SIGTERM)
        #expect(await gateway.status() == 0)

        let text = try String(contentsOf: log, encoding: .utf8)
        let key = try String(contentsOfFile: folder.file("master.key"), encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        let refresh = try #require(login["refresh_token"] as? String)
        for secret in [
            access, refresh, token, forged, key, StoreFolder.password, Self.secrets.key, Self.secrets.webhook,
            Self.words.said, Self.words.written, Self.words.posted, Self.words.answered,
        ] {
            #expect(!text.contains(secret), "the log contains \(secret)")
            // Parts of tokens are as bad.
            for part in secret.split(separator: ".") where part.count > 20 { #expect(!text.contains(part), "the log contains \(part)") }
        }
        try expectStory(try lines(of: text), room: room, session: id)
    }

    /// Every line is a JSON object with the documented keys.
    private func lines(of text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
            #expect((object["time"] as? String)?.wholeMatch(of: Self.times) != nil, "\(line)")
            for key in ["level", "logger", "message"] { #expect((object[key] as? String)?.isEmpty == false, "\(line)") }
            return object
        }
    }

    private func expectStory(_ lines: [[String: Any]], room: String, session: String) throws {
        func first(_ message: String, _ fields: [String: String] = [:]) throws -> [String: Any] {
            try #require(
                lines.first { line in line["message"] as? String == message && fields.allSatisfy { line[$0.key] as? String == $0.value } },
                "no line \"\(message)\" with \(fields)")
        }
        let configuration = try first("configuration")
        #expect(configuration["issuers"] as? [String] == ["devkey", "my-app"])
        #expect((configuration["webhook"] as? [String: Any])?["urls"] as? [String] == ["127.0.0.1:1"])
        #expect(try first("listening")["port"] is Int)
        #expect(try first("session started", ["session": session, "room": room])["request"] is String)
        _ = try first("room started", ["room": room])
        _ = try first("participant joined", ["room": room, "identity": "bob"])
        _ = try first("refused", ["reason": "bad_signature", "room": room, "issuer": "my-app"])
        _ = try first("refused", ["route": "POST /v1/sessions/start"])
        _ = try first("participant left", ["room": room, "identity": "bob", "reason": "ROOM_CLOSED"])
        _ = try first("room ended", ["room": room, "reason": "ROOM_CLOSED"])
        let ended = try first("session ended", ["session": session])
        #expect(ended["request"] is String && ended["seconds"] is Int)
        let failed = try first("webhook failed and will be repeated", ["endpoint": "127.0.0.1:1", "room": room])
        #expect(failed["attempts"] as? Int == 1 && failed["retry_seconds"] is Int)
        _ = try first("stopped")
    }

    @Test func theTextFormatIsTheDefault() async throws {
        let folder = try TemporaryFolder()
        let gateway = try await ServedGateway(log: folder.file("log"))
        gateway.signal(SIGTERM)
        #expect(await gateway.status() == 0)
        let lines = try String(contentsOf: folder.file("log"), encoding: .utf8).split(separator: "\n")
        #expect(lines.contains { $0.contains(" info patchbay configuration ") && $0.contains(" dev=true ") })
        #expect(lines.contains { $0.contains(" info patchbay listening host=127.0.0.1 port=\(gateway.port)") })
        for line in lines { #expect(line.prefixMatch(of: Self.times) != nil, "\(line)") }
    }
}
