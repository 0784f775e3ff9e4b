import Backend
import Foundation
import Identity
import OutgoingHTTP
import Store
import Synchronization
import Testing
import Wire

/// Pushes to sleeping phones when a summary is ready.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct SummaryPushTests {
    private static let callToken = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    private static let alertToken = "11fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f1"
    private static let words = "Please book a table for two at the harbour tomorrow at seven."
    private static let device = ["platform": "ios", "push_token": callToken, "alert_token": alertToken]

    /// Responds as APNs does, and records the requests.
    private final class APNs: Sendable {
        private let noted = Mutex<[OutgoingHTTPRequest]>([])
        private let answer: OutgoingResponse

        init(_ status: Int = 200, _ body: String = "") {
            answer = OutgoingResponse(status: status, body: [UInt8](body.utf8))
        }

        var requests: [OutgoingHTTPRequest] { noted.withLock { $0 } }

        func account() throws -> (settings: APNsSettings, send: Outgoing) {
            let key = try #require(ES256Key(pem: SecretText(SigningKey.curve().privatePEM)))
            let settings = APNsSettings(
                key: key, keyID: "ABC123DEFG", teamID: "TEAM", topic: "com.example.voice", environment: .sandbox,
                url: "https://apns.example")
            return (
                settings,
                { request in
                    self.noted.withLock { $0.append(request) }
                    return self.answer
                }
            )
        }
    }

    private func talk(_ user: AppUser) throws -> String {
        let session = try user.start().session
        try user.say(Self.words, in: session)
        try user.end(session)
        try Patience.until("a summary") { try user.show(session)["summary"] is [String: Any] }
        return session
    }

    /// The webhooks that ask a backend to push a summary.
    private func pushes(_ backend: TestBackend) async throws -> [[String: Any]] {
        try await backend.store.webhooks.list(.waiting).filter { $0.webhook.event == "push.summary_ready" }.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.webhook.body.utf8)) as? [String: Any])
        }
    }

    private func until(_ what: String, _ condition: () async throws -> Bool) async throws {
        for _ in 0..<6_000 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw DidNotHappen(what: what)
    }

    @Test func anIPhoneShowsTheTitleAndTheBeginningOfTheSummary() async throws {
        let apns = APNs()
        let backend = try TestBackend(apns: try apns.account())
        let ann = try AppUser(backend)
        #expect(try ann.ask("POST", "/v1/devices", Self.device).status == 201)
        let session = try talk(ann)
        try await until("an alert") { !apns.requests.isEmpty }
        let request = try #require(apns.requests.first)
        #expect(request.url == "https://apns.example/3/device/" + Self.alertToken)
        let fields = Dictionary(request.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        #expect(fields["apns-push-type"] == "alert" && fields["apns-topic"] == "com.example.voice")
        let expires = try #require(Int64(fields["apns-expiration"] ?? ""))
        #expect((1..<90_000).contains(expires - Int64(Date().timeIntervalSince1970)))
        let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
        let alert = try #require((body["aps"] as? [String: Any])?["alert"] as? [String: String])
        let line = try #require(try ann.sessions().first)
        #expect(alert["title"] == line["title"] as? String && alert["body"] == line["summary_snippet"] as? String && alert.count == 2)
        #expect(alert["title"] == "Please book a table for two at the…")
        #expect(body["session"] as? [String: String] == ["id": session] && request.body.count < 4_096)
        #expect(try !backend.place.holds(Self.alertToken))

        // A correction creates another summary and wakes no device.
        let before = (try ann.show(session)["summary"] as? [String: Any])?["id"] as? String
        try ann.say("And tell Bob about it.", in: session, at: "2026-11-21T13:17:56Z")
        try Patience.until("another summary") { (try ann.show(session)["summary"] as? [String: Any])?["id"] as? String != before }
        _ = try talk(ann)
        try await until("the alert of the next session") { apns.requests.count > 1 }
        #expect(!String(decoding: apns.requests[1].body, as: UTF8.self).contains(session) && apns.requests.count == 2)
    }

    @Test(arguments: [(400, #"{"reason":"BadDeviceToken"}"#), (410, #"{"reason":"Unregistered","timestamp":4000000000000}"#)])
    func aRefusedAlertTokenIsForgottenAndTheDeviceStaysForCalls(status: Int, body: String) async throws {
        let apns = APNs(status, body)
        let backend = try TestBackend(apns: try apns.account())
        let ann = try AppUser(backend)
        #expect(try ann.ask("POST", "/v1/devices", Self.device).status == 201)
        _ = try talk(ann)
        let user = try #require(UserID(text: ann.id))
        try await until("the token is forgotten") { try await backend.store.calls.pushDevices(of: user).first?.alertToken == nil }
        #expect(try await backend.store.calls.pushDevices(of: user).map(\.token.revealedText) == [Self.callToken])
        #expect(apns.requests.count == 1)
    }

    @Test func theWebhookNamesTheDevicesAndContainsNoText() async throws {
        let backend = try TestBackend(webhookEndpoints: ["https://hooks.example/in"])
        let ann = try AppUser(backend)
        #expect(try ann.ask("POST", "/v1/devices", ["platform": "android", "push_token": "a-secret-token"]).status == 201)
        #expect(try ann.ask("POST", "/v1/devices", Self.device).status == 201)
        // A device that can be woken only for calls.
        let voip = ["platform": "ios", "push_token": String(Self.callToken.reversed())]
        #expect(try ann.ask("POST", "/v1/devices", voip).status == 201)
        let session = try talk(ann)
        try await until("a push") { try await !pushes(backend).isEmpty }
        let body = try #require(try await pushes(backend).first)
        #expect((body["session"] as? [String: Any])?["id"] as? String == session)
        let push = try #require(body["push"] as? [String: Any])
        let devices = try #require(push["devices"] as? [[String: String]])
        #expect(push["userId"] as? String == ann.id && Set(devices.map { $0["pushToken"] }) == ["a-secret-token", Self.callToken])
        #expect(devices.compactMap { $0["alertToken"] } == [Self.alertToken])
        #expect(!"\(body)".contains("harbour") && !"\(body)".contains("table"))
        #expect(try !backend.place.holds("a-secret-token"))
    }

    @Test func nobodyIsWokenWhoIsConnectedOrDoesNotWantItOrIsNotLogged() async throws {
        let backend = try TestBackend(webhookEndpoints: ["https://hooks.example/in"])
        let android = ["platform": "android", "push_token": "t"]
        let connected = try AppUser(backend, "connected@example.org")
        let channel = try backend.gateway.webSocket(.upgrade(token: connected.accessToken, path: "/v1/events"))
        // After `hello`, the device is known to the gateway.
        _ = try channel.next()
        let unwilling = try AppUser(backend, "unwilling@example.org")
        #expect(try unwilling.ask("PATCH", "/v1/users/me", ["settings": ["pushes_summaries": false]]).status == 200)
        let unlogged = try AppUser(backend, "unlogged@example.org", logs: false)
        let sleeping = try AppUser(backend, "sleeping@example.org")
        for (index, user) in [connected, unwilling, unlogged, sleeping].enumerated() {
            #expect(try user.ask("POST", "/v1/devices", android.merging(["push_token": "t\(index)"]) { $1 }).status == 201)
        }
        try unlogged.end(try unlogged.start().session)
        for user in [connected, unwilling, sleeping] { _ = try talk(user) }
        // Pushes are delivered in order, and this user's is the last.
        try await until("a push") { try await !pushes(backend).isEmpty }
        try await Task.sleep(for: .milliseconds(300))
        #expect(try await pushes(backend).map { ($0["push"] as? [String: Any])?["userId"] as? String } == [sleeping.id])
        withExtendedLifetime(channel) {}
    }

    @Test(arguments: [
        ["platform": "android", "push_token": "t", "alert_token": alertToken],
        ["platform": "ios", "push_token": callToken, "alert_token": ""],
        ["platform": "ios", "push_token": callToken, "alert_token": "../3/device"],
        ["platform": "ios", "push_token": callToken, "alert_token": String(repeating: "a", count: 4_097)],
    ])
    func malformedAlertTokensAreRefused(device: [String: String]) throws {
        let backend = try TestBackend()
        let ann = try AppUser(backend)
        #expect(try ann.ask("POST", "/v1/devices", device).status == 400)
        #expect(try ann.ask("GET", "/v1/devices").text == "[]")
    }
}
