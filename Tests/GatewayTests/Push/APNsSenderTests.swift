import Backend
import Foundation
import Identity
import OutgoingHTTP
import Sockets
import Store
import Synchronization
import Testing
import Wire

/// Pushes to a server that speaks HTTP/2 and answers as Apple documents.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct APNsSenderTests {
    private static let device = SecretText("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")
    private static let key = SigningKey.curve()

    private static func request(ringing span: Duration = .seconds(45)) -> APNsPush {
        let (ann, bob) = (CallParty.user(Identity(text: "ann")), CallParty.user(Identity(text: "bob")))
        let call = CallInfo(
            id: CallID(text: "CA_1"), room: "call-CA_1", seq: 1, status: .started, caller: ann, callerName: "Ann", metadata: "m",
            members: [CallMember(party: ann, status: .answered), CallMember(party: bob, status: .started)], startedAt: 1_795_266_000_000)
        return APNsPush(call, until: now + span)
    }

    private static var now: WallTime { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

    private func sender(to server: APNsServer, ahead: @escaping @Sendable () -> Duration = { .zero }) throws -> APNsSender<ContinuousClock>
    {
        let key = try #require(ES256Key(pem: SecretText(Self.key.privatePEM)))
        let settings = APNsSettings(
            key: key, keyID: "ABC123DEFG", teamID: "TEAM", topic: "com.example.voice", environment: .sandbox, url: server.url)
        let client = try OutgoingClient(authority: Certificate.usual.certificateURL.path, connections: .shared)
        return APNsSender(
            settings, clock: ContinuousClock(), now: { Self.now + ahead() }, random: { 0 }, sending: client.outgoing(timeout: .seconds(5)))
    }

    @Test func pushIsWhatAPNsExpects() async throws {
        let server = try await APNsServer((200, ""))
        let push = Self.request()
        #expect(try await sender(to: server).send(push, to: Self.device, while: { true }) == .delivered)
        let request = try #require(try server.requests.first)
        #expect(request.path == "/3/device/" + Self.device.revealedText)
        #expect(request.fields["apns-push-type"] == "voip" && request.fields["apns-topic"] == "com.example.voice.voip")
        #expect(request.fields["apns-priority"] == "10")
        #expect(request.fields["apns-expiration"] == String(push.expiresAt.milliseconds / 1_000))
        #expect(request.fields["connection"] == nil)
        let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: Any])
        #expect(body["aps"] is [String: Any])
        #expect(
            body["call"] as? [String: String] == [
                "id": "CA_1", "uuid": "68907bba-dc75-8277-b806-e931ba3ae9e1", "started_at": "2026-11-21T13:00:00.000Z", "caller": "ann",
                "caller_name": "Ann", "metadata": "m",
            ])
        let parts = try #require(request.fields["authorization"]).dropFirst("bearer ".count).split(separator: ".")
        #expect(parts.count == 3 && String(decoding: Base64.urlSafe.decode(parts[0].utf8) ?? [], as: UTF8.self).contains("ABC123DEFG"))
    }

    @Test func providerTokenIsReusedAndRenewedInTime() async throws {
        let server = try await APNsServer((200, ""))
        let ahead = Mutex(Duration.zero)
        let sender = try sender(to: server) { ahead.withLock { $0 } }
        for minutes in [0, 49, 51] {
            ahead.withLock { $0 = .seconds(minutes * 60) }
            #expect(await sender.send(Self.request(ringing: .seconds(7_200)), to: Self.device, while: { true }) == .delivered)
        }
        #expect(try server.requests.map(\.connection) == [1, 1, 1])
        let tokens = try server.requests.compactMap { $0.fields["authorization"] }
        #expect(tokens.count == 3 && tokens[0] == tokens[1] && tokens[1] != tokens[2])
    }

    @Test func expiredProviderTokenIsReplacedAtOnce() async throws {
        let server = try await APNsServer((403, #"{"reason":"ExpiredProviderToken"}"#), (200, ""))
        #expect(try await sender(to: server).send(Self.request(), to: Self.device, while: { true }) == .delivered)
        #expect(try server.requests.count == 2)
    }

    @Test func removedAppIsReportedWithItsTime() async throws {
        let server = try await APNsServer((410, #"{"reason":"Unregistered","timestamp":1795000000000}"#))
        let outcome = try await sender(to: server).send(Self.request(), to: Self.device, while: { true })
        #expect(outcome == .unregistered(since: WallTime(milliseconds: 1_795_000_000_000)))
        #expect(try server.requests.count == 1)
    }

    @Test func unknownDeviceTokenIsReportedLikeARemovedApp() async throws {
        let server = try await APNsServer((400, #"{"reason":"BadDeviceToken"}"#))
        #expect(try await sender(to: server).send(Self.request(), to: Self.device, while: { true }) == .unregistered(since: nil))
        #expect(try server.requests.count == 1)
    }

    @Test(arguments: [(400, "BadTopic"), (403, "InvalidProviderToken"), (413, "PayloadTooLarge")])
    func hopelessPushIsNotRepeated(status: Int, reason: String) async throws {
        let server = try await APNsServer((status, #"{"reason":"\#(reason)"}"#))
        #expect(try await sender(to: server).send(Self.request(), to: Self.device, while: { true }) == .rejected(reason))
        #expect(try server.requests.count == 1)
    }

    @Test func busyServerIsAskedAgainWhileTheCallRings() async throws {
        let server = try await APNsServer((429, #"{"reason":"TooManyRequests"}"#), (503, ""), (200, ""))
        #expect(try await sender(to: server).send(Self.request(), to: Self.device, while: { true }) == .delivered)
        #expect(try server.requests.count == 3)
    }

    @Test func attemptsEndWithTheRinging() async throws {
        let server = try await APNsServer((503, ""))
        let sender = try sender(to: server)
        // Less than the pause after the first attempt.
        #expect(await sender.send(Self.request(ringing: .milliseconds(240)), to: Self.device, while: { true }) == .expired)
        #expect(try server.requests.count == 1)
        let isAnswered = Mutex(false)
        let outcome = await sender.send(Self.request(), to: Self.device) {
            isAnswered.withLock { isAnswered in
                defer { isAnswered = true }
                return !isAnswered
            }
        }
        #expect(try outcome == .expired && server.requests.count == 2)
    }
}
